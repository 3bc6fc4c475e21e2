/** Tests lists of certificates: pages, filters and remaining validity. */
import { DAY_MS, newCertificate, register } from '@measurement-exchange/testkit/certificates';
import { type DevParty, type Reply, UNLIMITED, useExchange } from '@measurement-exchange/testkit/exchange';
import { generateKeys } from '@measurement-exchange/testkit/issuing';
import { castOf, errorOf, get, ok, post } from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let globex: DevParty;
let streamly: DevParty;

const exchange = useExchange({ rate: UNLIMITED });
beforeAll(() => {
  ({ acme, globex, streamly } = castOf(exchange));
});

function create(party: DevParty, x509Der: string): Promise<Reply> {
  return post(exchange, party, `${party.name}/certificates`, { x509Der });
}

async function created(party: DevParty, keys?: CryptoKeyPair): Promise<string> {
  const { x509Der } = await newCertificate(keys);
  return (await ok(create(party, x509Der))).name;
}

function revoke(party: DevParty, name: string, revocationState: string): Promise<Reply> {
  return post(exchange, party, `${name}:revoke`, { revocationState });
}

describe('a list of certificates', () => {
  it('is complete and in order across pages while certificates are concurrently registered and revoked', async () => {
    const party = globex;
    const known = await register(exchange, party, 60);
    let paging = true;
    const meanwhile = Promise.all([
      (async () => {
        while (paging) await created(party);
      })(),
      (async () => {
        for (let i = 0; paging; i++) await revoke(party, known[(i * 7) % known.length]!, 'REVOKED');
      })(),
    ]);
    const pages: string[][] = [];
    let token: string | undefined;
    do {
      const page = `pageSize=7${token ? `&pageToken=${token}` : ''}`;
      const { certificates, nextPageToken } = await get(
        exchange,
        party,
        `${party.name}/certificates?${page}`,
      );
      pages.push(certificates.map((c: { name: string }) => c.name));
      token = nextPageToken;
      if (pages.flat().includes(known.at(-1)!)) paging = false;
    } while (token !== undefined);
    await meanwhile;
    const listed = pages.flat();
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.filter((name) => known.includes(name))).toEqual(known);
    expect(pages.length).toBeGreaterThan(8);
    expect(pages.slice(0, -1).every((page) => page.length === 7)).toBe(true);
  });

  it('can be filtered by key, and its page tokens are valid only with the same filter', async () => {
    const [a, b] = [await generateKeys(), await generateKeys()];
    const wanted = [await created(acme, a), await created(acme, b), await created(acme, a)];
    await created(streamly);
    const keys = [];
    for (const name of wanted) keys.push((await get(exchange, acme, name)).subjectKeyIdentifier);
    const filter = (key: string) => `filter.subjectKeyIdentifiers=${encodeURIComponent(key)}`;
    const list = async (query: string) => {
      const { certificates } = await get(exchange, acme, `${acme.name}/certificates?${query}`);
      return certificates.map((c: { name: string }) => c.name);
    };
    expect(await list(filter(keys[0]!))).toEqual([wanted[0], wanted[2]]);
    expect(await list([keys[1]!, keys[0]!, keys[0]!].map(filter).join('&'))).toEqual(wanted);
    expect(await list(filter('AAAA'))).toEqual([]);
    // The list does not contain another party's certificate, even if the caller knows the key identifier.
    const { certificates } = await get(
      exchange,
      streamly,
      `${streamly.name}/certificates?${filter(keys[0]!)}`,
    );
    expect(certificates).toEqual([]);

    const url = `${acme.name}/certificates?pageSize=1`;
    const { nextPageToken } = await get(exchange, acme, `${url}&${filter(keys[0]!)}`);
    expect(await list(`${filter(keys[0]!)}&pageToken=${nextPageToken}`)).toEqual([wanted[2]]);
    for (const other of [url, `${url}&${filter(keys[1]!)}`]) {
      const reply = await exchange.call(acme.token, 'GET', `/v2alpha/${other}&pageToken=${nextPageToken}`);
      expect(errorOf(reply)).toBe('400 INVALID_ARGUMENT INVALID_PAGE_TOKEN pageToken');
    }
  });

  it('shows the remaining time of certificates that expire within 30 days, and the metrics count them', async () => {
    const expiring = async (days: number) => {
      const notAfter = new Date(Date.now() + days * DAY_MS);
      const { x509Der } = await newCertificate(undefined, { notAfter });
      return (await ok(create(streamly, x509Der))).name;
    };
    const soon = await expiring(12);
    const held = await expiring(13);
    await ok(revoke(streamly, held, 'HOLD'));
    const others = [held, await expiring(31), await expiring(-1)];
    const { certificates } = await get(exchange, streamly, `${streamly.name}/certificates?pageSize=1000`);
    const left = new Map<string, string>(certificates.map((c: Reply['json']) => [c.name, c.expiresIn]));
    expect(left.get(soon)).toMatch(/^\d+s$/);
    expect(Number.parseInt(left.get(soon)!, 10)).toBeGreaterThan(12 * 24 * 3600 - 60);
    expect(Number.parseInt(left.get(soon)!, 10)).toBeLessThanOrEqual(12 * 24 * 3600);
    for (const name of others) expect(left.get(name)).toBeUndefined();

    const metrics = await (await fetch(`${exchange.url}/metrics`)).text();
    expect(metrics).toContain('mex_certificates_expiring{kind="dataProvider"} 1\n');
    expect(metrics).toContain('mex_certificates_expiring{kind="duchy"} 0\n');
    expect(metrics).toMatch(/^mex_revocation_cascades_pending \d+$/m);
    // The metric still has the old value, because the exchange counts expiring certificates at most once a minute.
    await expiring(14);
    expect(await (await fetch(`${exchange.url}/metrics`)).text()).toContain('{kind="dataProvider"} 1\n');
  });
});
