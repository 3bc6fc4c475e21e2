/** Common steps for tests of the service. */
import { randomBytes, sign } from 'node:crypto';
import { expect } from 'vitest';
import { type DevParty, fulfillment, measurementRequest, type Reply, type TestExchange } from './exchange.ts';

/** RFC 3339 in UTC with microseconds. */
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** Returns the demo parties by name. */
export function castOf(exchange: TestExchange) {
  const [acme, globex] = exchange.dev.measurementConsumers as [DevParty, DevParty];
  const [streamly, chirper, dailynews] = exchange.dev.dataProviders as [DevParty, DevParty, DevParty];
  return { acme, globex, streamly, chirper, dailynews };
}

/** Finds the log line of the request that got this reply. */
export async function lineOf(exchange: TestExchange, reply: Reply) {
  const lines = (await exchange.logs()).map((text) => JSON.parse(text));
  return lines.find(({ requestId }) => requestId === reply.headers.get('x-request-id'));
}

/** Returns the body of a reply, which must be a success. */
export async function ok(reply: Reply | Promise<Reply>): Promise<Reply['json']> {
  const { status, text, json } = await reply;
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json;
}

/**
 * Checks the form of an error, and returns the error in one line: `409 ABORTED REQUISITION_ETAG_MISMATCH`, then the
 * fields that the error names.
 */
export function errorOf(reply: Reply): string {
  expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(Object.keys(reply.json)).toEqual(['error']);
  const { code, status, message, details } = reply.json.error;
  expect(code).toBe(reply.status);
  expect(message).toMatch(/\w/);
  const [info, ...others] = details;
  expect(info).toMatchObject({
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    domain: 'measurement-exchange',
  });
  const violations = others.find((d: { '@type': string }) => d['@type'].endsWith('google.rpc.BadRequest'));
  const fields = (violations?.fieldViolations ?? []).map((v: { field: string }) => v.field);
  return [code, status, info.reason, ...fields].join(' ');
}

/** Returns the metadata of an error. */
export function metadata(reply: Reply): Record<string, string> {
  return reply.json.error.details[0].metadata;
}

export function get(exchange: TestExchange, party: DevParty, name: string): Promise<Reply['json']> {
  return ok(exchange.call(party.token, 'GET', `/v2alpha/${name}`));
}

export function post(exchange: TestExchange, party: DevParty, name: string, body?: unknown): Promise<Reply> {
  return exchange.call(party.token, 'POST', `/v2alpha/${name}`, body);
}

/** Creates a measurement. By default, the first provider's nonce is 1, the second provider's nonce is 2, and so on. */
export function createMeasurement(
  exchange: TestExchange,
  consumer: DevParty,
  providers: DevParty[],
  nonces?: bigint[],
): Promise<Reply['json']> {
  return ok(
    post(
      exchange,
      consumer,
      `${consumer.name}/measurements`,
      measurementRequest(consumer, providers, nonces),
    ),
  );
}

/** Returns a provider's requisition of a measurement as the provider sees it. */
export async function requisitionOf(
  exchange: TestExchange,
  provider: DevParty,
  measurement: { name: string },
): Promise<Reply['json']> {
  const { requisitions } = await get(exchange, provider, `${provider.name}/requisitions?pageSize=1000`);
  return requisitions.find((r: { measurement: string }) => r.measurement === measurement.name);
}

export function fulfill(
  exchange: TestExchange,
  provider: DevParty,
  requisition: { name: string; etag: string },
  nonce: bigint,
  changes: object = {},
): Promise<Reply> {
  const body = { ...fulfillment(provider, requisition, nonce), ...changes };
  return post(exchange, provider, `${requisition.name}:fulfillDirect`, body);
}

export function refuse(
  exchange: TestExchange,
  provider: DevParty,
  requisition: { name: string; etag: string },
  refusal: object = { justification: 'DECLINED', message: 'not this quarter' },
): Promise<Reply> {
  return post(exchange, provider, `${requisition.name}:refuse`, { refusal, etag: requisition.etag });
}

/** Returns a serialized message and the consumer's signature, as in the field `measurementSpec`. */
export function signed(consumer: DevParty, message: Uint8Array) {
  return {
    message: Buffer.from(message).toString('base64'),
    signature: sign('sha256', message, consumer.privateKeyPem).toString('base64'),
    signatureAlgorithm: 'ECDSA_P256_SHA256',
  };
}

/**
 * Adds a certificate directly to the database. Random bytes are enough, because no client in these tests verifies the
 * certificate.
 */
export async function addCertificate(
  exchange: TestExchange,
  party: string,
  id: string,
  { notBefore = '2020-01-01', notAfter = '2100-01-01', revocationState = null as string | null } = {},
): Promise<string> {
  await exchange.database.query(
    `INSERT INTO certificates (party, id, x509_der, subject_key_identifier, not_before, not_after, revocation_state,
       create_time) VALUES ($1, $2, $3, $4, $5, $6, $7, now())`,
    [party, id, randomBytes(40), randomBytes(20), `${notBefore}Z`, `${notAfter}Z`, revocationState],
  );
  return `${party}/certificates/${id}`;
}

/** Returns all stored rows by table, except the tables `last_seen` and `replicas`, which change without requests. */
export async function stored(exchange: TestExchange): Promise<Record<string, unknown>> {
  const tables = await exchange.database.query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT IN ('last_seen', 'replicas') ORDER BY 1`,
  );
  const all: Record<string, unknown> = {};
  for (const { name } of tables) {
    const rows = await exchange.database.query(`SELECT t::text AS row FROM ${name} t ORDER BY 1`);
    all[name as string] = rows.map(({ row }) => row);
  }
  return all;
}
