import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exchange, onboarded, path, useExchange, whoAmI } from './adminWorld.ts';
import { told } from './environment.ts';
import { mex, mexJson } from './mexInProcess.ts';

useExchange();

type Party = Record<string, unknown>;

describe('mex admin onboard', () => {
  it('registers a party, and is idempotent', async () => {
    const name = 'dataProviders/once';
    await mex('identity', name, '--display-name', 'Once', '--out', path('once'));
    const onboard = [
      'admin',
      'onboard',
      path('once/party.json'),
      '--issuer',
      'https://id.example.com',
      '--subject',
      'once',
      '--trust-root',
      ...(await told(path('once'))),
    ];
    expect((await whoAmI(name)).error.status).toBe('PERMISSION_DENIED');
    const first = await mexJson(...onboard);
    expect(first).toMatchObject({
      party: { created: true, state: 'ACTIVE' },
      certificate: { created: true, name: expect.stringContaining(`${name}/certificates/`) },
      trustedRoot: { created: true },
      publicKey: { created: true },
      principal: { created: true },
    });
    expect((await whoAmI(name)).principal).toBe(name);
    const audited = () => exchange.database.query('SELECT name, operation FROM audit_entries');
    const entries = await audited();

    const second = await mexJson(...onboard);
    expect(second).toMatchObject({
      party: { created: false },
      certificate: { created: false, name: first.certificate.name },
      trustedRoot: { created: false },
      publicKey: { created: false },
      principal: { created: false, name: first.principal.name },
    });
    expect(await audited()).toEqual(entries);
    expect(await mex(...onboard)).toMatch(
      /^dataProviders\/once is on board\.\n( {2}.* already there.*\n|.*SHA-256.*\n)+$/,
    );
  });

  it('registers nothing with --trust-root if party.json has no root', async () => {
    const name = 'dataProviders/rootless';
    await mex('identity', name, '--out', path('rootless'));
    const { rootPem: _, ...file } = JSON.parse(await readFile(path('rootless/party.json'), 'utf8'));
    await writeFile(path('rootless.json'), JSON.stringify(file));
    const onboarding = mex(
      ...['admin', 'onboard', path('rootless.json'), '--trust-root', '--issuer', 'https://id.example.com'],
      ...['--subject', 'rootless', ...(await told(path('rootless')))],
    );
    await expect(onboarding).rejects.toThrow('has no root to trust: leave out --trust-root');
    await expect(mex('admin', 'parties', 'get', name)).rejects.toThrow('does not exist');
  });

  it('registers nothing when the fingerprint is wrong, malformed or missing', async () => {
    const name = 'dataProviders/swapped';
    await mex('identity', name, '--out', path('honest'));
    await mex('identity', name, '--out', path('mallory'));
    const onboard = (...options: string[]) =>
      mex(
        ...['admin', 'onboard', path('mallory/party.json'), '--trust-root'],
        ...['--issuer', 'https://id.example.com', '--subject', 'swapped', ...options],
      );
    const [option, fingerprint] = (await told(path('honest'))) as [string, string];
    await expect(onboard(option, fingerprint)).rejects.toThrow(/another fingerprint.*nothing was registered/);
    await expect(onboard(option, fingerprint.slice(0, -1))).rejects.toThrow(/64 hexadecimal digits/);
    await expect(onboard()).rejects.toThrow(/--fingerprint/);
    await expect(mex('admin', 'parties', 'get', name)).rejects.toThrow('does not exist');
    // The fingerprint is accepted in any common notation.
    const [, mallory] = (await told(path('mallory'))) as [string, string];
    expect(await onboard(option, mallory.replaceAll(':', '').toLowerCase())).toContain('is on board');
  });

  it('completes the onboarding of a party that already exists', async () => {
    const name = 'measurementConsumers/begun';
    await mex('identity', name, '--out', path('begun'));
    await mex('admin', 'parties', 'create', name);
    const result = await mexJson(
      'admin',
      'onboard',
      path('begun/party.json'),
      '--issuer',
      'https://id.example.com',
      '--subject',
      'begun',
      ...(await told(path('begun'))),
    );
    expect(result).toMatchObject({
      party: { created: false },
      certificate: { created: true },
      publicKey: { created: true },
    });
    const party = await mexJson('admin', 'parties', 'get', name);
    expect(party.publicKey).toEqual(JSON.parse(await readFile(path('begun/party.json'), 'utf8')).publicKey);
  });

  it('registers the endpoint of a duchy, and rejects another endpoint later', async () => {
    const name = 'duchies/reached';
    await mex('identity', name, '--out', path('reached'));
    const onboard = async (endpoint: string, folder = 'reached') => [
      ...['admin', 'onboard', path(`${folder}/party.json`), '--issuer', 'https://id.example.com'],
      ...['--subject', folder, '--endpoint', endpoint, ...(await told(path(folder)))],
    ];
    const endpoint = 'https://reached.example.com';
    expect((await mexJson(...(await onboard(endpoint)))).endpoint).toEqual({ created: true, name: endpoint });
    expect((await mexJson('admin', 'parties', 'get', name)).endpoint).toBe(endpoint);
    expect((await mexJson(...(await onboard(`${endpoint}/`)))).endpoint.created).toBe(false);
    expect(await mex(...(await onboard(endpoint)))).toMatch(/endpoint +already there +https:/);
    await expect(mex(...(await onboard('https://moved.example.com')))).rejects.toThrow(
      /another endpoint, https:\/\/reached\.example\.com.*parties update duchies\/reached --endpoint/,
    );
    await mex('identity', 'dataProviders/unreached', '--out', path('unreached'));
    await expect(mex(...(await onboard(endpoint, 'unreached')))).rejects.toThrow('--endpoint is for duchies');
  });

  it('rejects another public key, a subject of another party and a revoked certificate', async () => {
    const directory = await onboarded('dataProviders/kept');
    const again = ['--issuer', `${exchange.url}/dev`, '--subject'];
    await mex('identity', 'dataProviders/kept', '--out', path('kept-2'));
    const onboard = async (folder: string, subject: string) =>
      mex('admin', 'onboard', join(folder, 'party.json'), ...again, subject, ...(await told(folder)));
    await expect(onboard(path('kept-2'), 'kept-2')).rejects.toThrow(/another public key.*parties update/);

    await mex('identity', 'dataProviders/late', '--out', path('late'));
    await expect(onboard(path('late'), 'dataProviders/kept')).rejects.toThrow(
      /speaks for dataProviders\/kept.*principals unbind principals\//,
    );

    const [certificate] = (await mexJson('admin', 'certificates', 'list', 'dataProviders/kept')).certificates;
    await mex('admin', 'certificates', 'revoke', certificate.name);
    await expect(onboard(directory, 'dataProviders/kept')).rejects.toThrow(/is revoked.*--renew/);
  });

  it.each([
    [
      'a key that another certificate signed',
      (a: Party, b: Party) => ({ ...a, publicKey: b.publicKey }),
      /signature of publicKey/,
    ],
    [
      'a root that did not issue the certificate',
      (a: Party, b: Party) => ({ ...a, rootPem: b.rootPem }),
      /rootPem did not issue/,
    ],
    ['an invalid certificate', (a: Party) => ({ ...a, certificatePem: 'none' }), /not a certificate in PEM/],
    ['no name', (a: Party) => ({ ...a, name: undefined }), /name is missing/],
    ['an invalid party name', (a: Party) => ({ ...a, name: '../principals' }), /not the name of a party/],
    ['null instead of an object', () => null, /is not a JSON object/],
  ])('rejects a party.json with %s, and registers nothing', async (_title, damage, words) => {
    await mex('identity', 'dataProviders/odd', '--out', path('odd'));
    await mex('identity', 'dataProviders/odd', '--out', path('odd-2'));
    const [a, b] = await Promise.all(
      ['odd', 'odd-2'].map(async (d) => JSON.parse(await readFile(path(`${d}/party.json`), 'utf8'))),
    );
    await writeFile(path('odd.json'), JSON.stringify(damage(a, b)));
    const onboard = mex(
      'admin',
      'onboard',
      path('odd.json'),
      '--issuer',
      'https://id.example.com',
      '--subject',
      'odd',
      ...(await told(path('odd'))),
    );
    await expect(onboard).rejects.toThrow(words);
    await expect(mex('admin', 'parties', 'get', 'dataProviders/odd')).rejects.toThrow('does not exist');
    await Promise.all(['odd', 'odd-2'].map((d) => rm(path(d), { recursive: true })));
  });
});
