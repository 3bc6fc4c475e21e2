/**
 * A program that uses a client generated from openapi.json. The test generates `schema.ts`, puts it next to a copy of
 * this file, and runs the copy.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.ts';

const MEASUREMENTS = '/v2alpha/measurementConsumers/{measurementConsumer}/measurements';

export async function run(options: {
  baseUrl: string;
  token: string;
  measurementConsumer: string;
  measurement: components['schemas']['MeasurementInput'];
}) {
  const { baseUrl, token, measurementConsumer, measurement } = options;
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });
  const path = { measurementConsumer };

  const created = await client.POST(MEASUREMENTS, {
    params: { path, query: { requestId: 'generated-1' } },
    body: measurement,
  });
  if (created.data === undefined) throw new Error(created.error.error.message);
  const { name, state } = created.data;
  const id = name!.split('/').at(-1)!;

  const listed = await client.GET(MEASUREMENTS, {
    params: {
      path,
      query: { pageSize: 10, 'filter.states': ['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING'] },
    },
  });
  const finished = await client.GET(MEASUREMENTS, {
    params: { path, query: { 'filter.states': ['SUCCEEDED'] } },
  });
  await client.GET(MEASUREMENTS, {
    // @ts-expect-error This state does not exist.
    params: { path, query: { 'filter.states': ['DONE'] } },
  });
  const read = await client.GET(`${MEASUREMENTS}/{measurement}`, {
    params: { path: { ...path, measurement: id } },
  });
  const absent = await client.GET(`${MEASUREMENTS}/{measurement}`, {
    params: { path: { ...path, measurement: 'absent' } },
  });
  const failure = absent.error?.error;
  // TypeScript narrows the possible reasons by the HTTP status.
  if (failure?.code !== 404) throw new Error('An absent measurement is not found.');
  const [info] = failure.details;
  if (info?.['@type'] !== 'type.googleapis.com/google.rpc.ErrorInfo') throw new Error(failure.message);
  // @ts-expect-error Reading a measurement cannot fail with this reason.
  if (info.reason === 'DUCHY_NOT_FOUND') throw new Error(failure.message);
  const reason: 'MEASUREMENT_NOT_FOUND' = info.reason;

  return {
    name,
    state,
    listed: listed.data?.measurements.map((one) => one.name),
    finished: finished.data?.measurements.map((one) => one.name),
    read: read.data?.dataProviders,
    failure: [reason, info.metadata.measurement],
    fields: await wrongFields(),
  };

  async function wrongFields(): Promise<string[]> {
    // @ts-expect-error The spec must be signed.
    const { error } = await client.POST(MEASUREMENTS, { params: { path }, body: { measurementSpec: {} } });
    const violations = error?.error.details.find((detail) => 'fieldViolations' in detail);
    return violations?.fieldViolations.map(({ field }) => field) ?? [];
  }
}
