/** Tests `mex verify`: every step passes for honest data, and the command names the step that fails. */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { SignedMessage, TYPE_URLS, toJson } from '@measurement-exchange/contract';
import { createSigner, packSignedMessage } from '@measurement-exchange/sdk';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { MEX } from '@measurement-exchange/testkit/process';
import {
  asking,
  fulfillWith,
  impression,
  measured,
  type ResultOverrides,
  reach,
  requisitionOf,
} from '@measurement-exchange/testkit/world';
import { describe, expect, it } from 'vitest';
import { run } from './mexInProcess.ts';
import { describeTo, path, useWorld, w } from './partyWorld.ts';

useWorld();

interface Step {
  about?: string;
  step: string;
  holds?: boolean;
  detail: string;
}

/** Runs `mex verify --json`, and checks that the exit code agrees with the verdict. */
async function verdict(...args: string[]) {
  const { out, error } = await run('verify', ...args, '--json');
  const { holds, steps } = JSON.parse(out) as { holds: boolean; steps: Step[] };
  expect(error?.exitCode).toBe(holds ? undefined : 2);
  return {
    holds,
    steps,
    failed: steps.filter((s) => s.holds === false).map((s) => `${s.step}: ${s.detail}`),
  };
}

describe('mex verify measurement, as the consumer', () => {
  it('checks the question and the results step by step', async () => {
    const { name } = await measured(
      w,
      asking(w, 'reach', w.streamly, w.chirper),
      [w.streamly, reach(1n)],
      [w.chirper, reach(2n)],
    );
    const { out, error } = await run('verify', 'measurement', name!, '--as', 'acme');
    expect(error).toBeUndefined();
    expect(out).not.toMatch(/[✗–]/);
    expect(out).toMatch(/✓ the MeasurementSpec is signed with its key: ECDSA_P256_SHA256/);
    expect(out).toMatch(
      /\ndataProviders\/chirper\n✓ its certificate is valid and chains to a trusted root: dataProviders\/chirper\/cert/,
    );
    expect(out.match(/✓ the result is signed with its key/g)).toHaveLength(2);
    expect(out).toMatch(/Everything holds\.\n$/);
    expect((await verdict('measurement', name!.split('/').at(-1)!, '--as', 'acme')).holds).toBe(true);
  });

  it('does not need a result', async () => {
    const { name } = await w.consumer.create(asking(w));
    const { holds, steps } = await verdict('measurement', name!, '--as', 'acme');
    expect(holds).toBe(true);
    expect(steps.map((s) => s.step).join()).not.toContain('result decrypts');
    await w.acme.client.cancelMeasurement({ name: name! });
  });

  const broken: [what: string, otherwise: () => ResultOverrides, failed: RegExp][] = [
    [
      'signed by another party',
      () => ({ privateKeyPem: w.chirper.privateKeyPem }),
      /^the result is signed.*SIGNATURE_INVALID/,
    ],
    [
      'encrypted for another party',
      () => ({ keyset: w.chirper.encryptionPublicKey }),
      /^the result decrypts.*NO_MATCHING_KEY/,
    ],
    [
      'damaged',
      () => ({ seal: (signed) => signed.subarray(0, 20) }),
      /^the result decrypts.*MESSAGE_MALFORMED/,
    ],
  ];
  it.each(broken)('names the step that fails for a result that is %s', async (_what, otherwise, failed) => {
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, reach(1n), otherwise());
    const result = await verdict('measurement', name!, '--as', 'acme');
    expect(result.failed[0]).toMatch(failed);
    // A wrong result of one provider also fails the step that requires exactly one result from every provider.
    expect(result.failed.at(-1)).toMatch(/^every provider has exactly one result/);
    const { out, error } = await run('verify', 'measurement', name!, '--as', 'acme');
    expect(out).toMatch(/^✗ the result /m);
    expect(error?.message).toContain('Do not rely on it');
  });

  it('reports a result of another type than requested', async () => {
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, impression(5n));
    const { failed } = await verdict('measurement', name!, '--as', 'acme');
    expect(failed).toEqual([expect.stringMatching(/^every provider.*RESULT_TYPE_MISMATCH/)]);
  });

  it('names a certificate whose root is not trusted', async () => {
    const { name } = await w.consumer.create(asking(w));
    const other = await createIdentity({ commonName: 'Stranger', now: Date.now(), days: 10 });
    await writeFile(path('stranger.pem'), other.root.certificatePem);
    // A root given for one party takes precedence over the general roots.
    const root = `${w.streamly.name}=${path('stranger.pem')}`;
    const { failed, steps } = await verdict('measurement', name!, '--as', 'acme', '--root', root);
    expect(failed).toEqual([expect.stringMatching(/^its certificate is valid.*CERTIFICATE_UNTRUSTED/)]);
    const skipped = steps.filter((s) => s.holds === undefined);
    expect(skipped.map((s) => s.step)).toEqual(['its part was encrypted with the key it publishes, signed']);
    await w.acme.client.cancelMeasurement({ name: name! });
  });

  it('rejects a measurement of another consumer, a missing identity and an unknown measurement', async () => {
    const foreign = await run(
      'verify',
      'measurement',
      'measurementConsumers/globex/measurements/x',
      '--as',
      'acme',
    );
    expect(foreign.error?.message).toMatch(/is no measurement of measurementConsumers\/acme/);
    expect((await run('verify', 'measurement', 'x')).error?.message).toContain('Say who you are');
    expect((await run('verify', 'measurement', 'x', '--as', 'acme')).error?.message).toContain(
      'does not exist',
    );
  });
});

describe('mex verify measurement, as a provider', () => {
  it('checks a requisition including the event groups that it asks for', async () => {
    const eventGroup = await describeTo(w.acme, w.streamly, 'verified');
    const interval = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
    const eventGroups = [{ name: eventGroup, interval, filter: 'age > 30' }];
    const { name } = await w.consumer.create({
      ...asking(w),
      dataProviders: [{ name: w.streamly.name, eventGroups }],
    });
    const requisition = (await requisitionOf(w.streamly, name!)).name!;
    const { out, error } = await run('verify', 'measurement', requisition, '--as', 'streamly');
    expect(error).toBeUndefined();
    expect(out).toMatch(
      /✓ .* in order: verified from 2026-01-01 to 2026-02-01 where age > 30\n\nEverything holds/,
    );
  });

  it('names an unknown event group', async () => {
    const { name } = await w.consumer.create(asking(w));
    const requisition = (await requisitionOf(w.streamly, name!)).name!;
    const { failed } = await verdict('measurement', requisition, '--as', 'streamly');
    expect(failed).toEqual([
      expect.stringMatching(/^nonce, result key.*dataProviders\/streamly\/eventGroups\/tv does not exist/),
    ]);
  });
});

describe('mex verify file', () => {
  it('checks a message in JSON or protobuf, its certificate and its root', async () => {
    const streamly = await createIdentity({ commonName: 'Streamly', now: Date.now(), days: 10 });
    const stranger = await createIdentity({ commonName: 'Stranger', now: Date.now(), days: 10 });
    for (const [name, identity] of Object.entries({ streamly, stranger })) {
      await writeFile(path(`${name}.cert.pem`), identity.certificatePem);
      await writeFile(path(`${name}.root.pem`), identity.root.certificatePem);
    }
    const signed = await (await createSigner(streamly.privateKeyPem)).sign(Buffer.from('a message'));
    await writeFile(path('signed.json'), `\n  ${toJson(SignedMessage, signed)}`);
    await writeFile(path('signed.binpb'), packSignedMessage(signed, TYPE_URLS.RequisitionSpec));
    const verify = (file: string, certificate: string, ...root: string[]) =>
      verdict(
        'file',
        path(file),
        '--certificate',
        path(certificate),
        ...root.flatMap((r) => ['--root', path(r)]),
      );

    expect((await verify('signed.json', 'streamly.cert.pem', 'streamly.root.pem')).holds).toBe(true);
    const binary = await verify('signed.binpb', 'streamly.cert.pem');
    expect(binary.holds).toBe(true);
    expect(binary.steps.at(-2)!.detail).toBe(`9 bytes of ${TYPE_URLS.RequisitionSpec}`);
    expect((await verify('signed.json', 'stranger.cert.pem')).failed).toEqual([
      expect.stringMatching(/^the message is signed with its key.*SIGNATURE_INVALID/),
    ]);
    expect((await verify('signed.json', 'streamly.cert.pem', 'stranger.root.pem')).failed).toEqual([
      expect.stringMatching(/^the certificate is valid and chains.*CERTIFICATE_UNTRUSTED/),
    ]);

    const text = await readFile(path('signed.json'), 'utf8');
    await writeFile(
      path('changed.json'),
      text.replace(/"message":"./, (m) => m.replace(/.$/, 'Z')),
    );
    expect((await verify('changed.json', 'streamly.cert.pem')).failed).toHaveLength(1);
    await writeFile(path('garbage'), 'hello');
    expect((await verify('garbage', 'streamly.cert.pem')).failed[0]).toMatch(/^the message can be read/);
    const args = [MEX, 'verify', 'file', path('changed.json'), '--certificate', path('streamly.cert.pem')];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^\nmex: .* does not hold: 1 of 4 steps failed/),
    ]);
    const nowhere = await run('verify', 'file', path('nowhere'), '--certificate', path('streamly.cert.pem'));
    expect(nowhere.error?.message).toContain('cannot be read (ENOENT): give a SignedMessage');
  });
});
