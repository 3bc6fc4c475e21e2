/** Tests that a valid request has no findings, and that each mutation of the request is reported with its field. */
import { toBase64 } from '@measurement-exchange/contract';
import { issueLeaf } from '@measurement-exchange/sdk/identity';
import {
  type DevParty,
  measurementRequest,
  type Reply,
  startExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  createMeasurement,
  errorOf,
  fulfill,
  get,
  metadata,
  ok,
  post,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FINDING_CODES, type FindingCode } from '../../src/domain/findings.ts';
import { FOUND, type Mutation, REFUSED } from './mutations.ts';
import { createWorld, goodRequest, trust, type World } from './world.ts';

const send = (w: World, body: unknown, query = '') =>
  post(w.exchange, w.acme, `${w.acme.name}/measurements${query}`, body);

function mutated(w: World, change: Mutation<string>['change']) {
  const request = goodRequest(w);
  change(request, w);
  return request;
}

const brief = (findings: { code: string; field: string }[]) =>
  findings.map(({ code, field }) => [code, field]);
const expected = ({ refusals, fields }: Mutation<string>) => refusals.map((code, i) => [code, fields[i]]);

/** Returns the error's reason and fields. The fields can be in the violations or in the metadata of the error. */
function refused(reply: Reply): string {
  const [, , reason, ...fields] = errorOf(reply).split(' ');
  const { field, dataProvider } = metadata(reply) ?? {};
  return [reason, ...fields, field ?? dataProvider].filter(Boolean).join(' ');
}

async function timelineFindings(w: World, measurement: string) {
  const { transitions } = await get(w.exchange, w.acme, `${measurement}:timeline`);
  return transitions.flatMap((t: { findings?: [] }) => t.findings ?? []);
}

it('there are at least 30 mutations, and they cause every consent finding', () => {
  expect(FOUND.length).toBeGreaterThanOrEqual(30);
  const consent: FindingCode[] = [
    ...(['SPEC_SIGNATURE_INVALID', 'CERTIFICATE_UNTRUSTED', 'PUBLIC_KEY_NOT_CURRENT'] as const),
    ...(['NONCE_HASHES_MISMATCH', 'SPEC_PARAMETER_INVALID', 'SPEC_UNDECODABLE', 'TYPE_URL_UNKNOWN'] as const),
  ];
  expect(new Set(FOUND.flatMap((m) => m.refusals))).toEqual(new Set(consent));
});

describe.each(['strict', 'advisory'] as const)('under %s checks', (checks) => {
  let w: World;
  beforeAll(async () => {
    w = await createWorld(await startExchange({ checks }));
  });
  afterAll(async () => {
    expect(await w.exchange.stop()).toEqual([]);
  });

  it('a good request is accepted without findings', async () => {
    for (const body of [goodRequest(w), measurementRequest(w.acme, [w.streamly])]) {
      const reply = await send(w, body);
      const { name } = await ok(reply);
      expect(reply.headers.has('x-mex-findings')).toBe(false);
      expect(await timelineFindings(w, name)).toEqual([]);
      expect((await ok(send(w, body, '?validateOnly=true'))).findings).toEqual([]);
    }
  });

  it.each(REFUSED)('$title is rejected with its reason and fields', async ({ refusals, fields, change }) => {
    const reply = await send(w, mutated(w, change));
    expect(refused(reply)).toBe([...refusals, ...fields].join(' '));
  });

  if (checks === 'strict') {
    it.each(FOUND)(
      '$title is rejected as CHECK_FAILED with its fields and finding codes',
      async ({ refusals, fields, change }) => {
        const reply = await send(w, mutated(w, change));
        expect(refused(reply)).toBe(['CHECK_FAILED', ...fields].join(' '));
        expect(metadata(reply).codes).toBe([...new Set(refusals)].join());
      },
    );
  } else {
    it.each(FOUND)('$title is accepted and reported as a finding', async (m) => {
      const reply = await send(w, mutated(w, m.change));
      const { name } = await ok(reply);
      expect(reply.headers.get('x-mex-findings')).toBe(String(m.fields.length));
      expect(brief(await timelineFindings(w, name))).toEqual(expected(m));
    });
  }

  it('validateOnly returns all findings with their remedies, and creates no measurement', async () => {
    const some = FOUND.filter(({ title }) =>
      /last bit flipped|provider certificate from an unknown|had before|requisition spec of another|not list/.test(
        title,
      ),
    );
    const request = goodRequest(w);
    for (const { change } of some) change(request, w);
    const before = await w.exchange.database.query('SELECT count(*) FROM measurements');
    const { findings } = await ok(send(w, request, '?validateOnly=true'));
    expect(brief(findings).sort()).toEqual(some.flatMap(expected).sort());
    for (const { code, message, remedy } of findings) {
      expect(message).toMatch(/\.$/);
      expect(remedy).toBe(FINDING_CODES[code as FindingCode].remedy);
    }
    expect(await w.exchange.database.query('SELECT count(*) FROM measurements')).toEqual(before);
  });

  it('a certificate from an unknown root is detected in a fulfillment', async () => {
    const measurement = await createMeasurement(w.exchange, w.acme, [w.streamly]);
    const requisition = await requisitionOf(w.exchange, w.streamly, measurement);
    const { certificate } = w.streamlyAs.stranger;
    const reply = await fulfill(w.exchange, w.streamly, requisition, 1n, { certificate });
    if (checks === 'strict') {
      expect(refused(reply)).toBe('CHECK_FAILED certificate');
    } else {
      await ok(reply);
      const findings = await timelineFindings(w, measurement.name);
      expect(brief(findings)).toEqual([['CERTIFICATE_UNTRUSTED', 'certificate']]);
    }
  });

  it('any public key is accepted for a provider that has registered none', async () => {
    const newcomer = 'dataProviders/newcomer';
    const operator = { ...w.acme, token: w.exchange.dev.operator.token };
    await ok(post(w.exchange, operator, 'dataProviders?dataProviderId=newcomer', {}));
    const { der } = await issueLeaf(w.demo, 'newcomer', Date.now());
    const body = { x509Der: toBase64(der) };
    const { name } = await ok(post(w.exchange, operator, `${newcomer}/certificates`, body));
    const party: DevParty = { ...w.streamly, name: newcomer, certificate: name };
    const reply = await send(w, measurementRequest(w.acme, [party]), '?validateOnly=true');
    expect((await ok(reply)).findings).toEqual([]);
  });

  it('the trusted roots of a party replace the roots for all parties', async () => {
    await trust(w.exchange, w.stranger, w.streamly.name);
    const findings = async (certificate: string) => {
      const request = goodRequest(w);
      request.dataProviders[w.streamly.name]!.dataProviderCertificate = certificate;
      return brief((await ok(send(w, request, '?validateOnly=true'))).findings);
    };
    expect(await findings(w.streamlyAs.stranger.certificate)).toEqual([]);
    expect(await findings(w.streamly.certificate)).toEqual([
      ['CERTIFICATE_UNTRUSTED', `dataProviders[${w.streamly.name}].dataProviderCertificate`],
    ]);
  });
});
