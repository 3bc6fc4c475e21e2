/** The script of the page: a consumer that uses only exports of the SDK and of the contract, and browser APIs. */
import { fromBase64 } from '@measurement-exchange/contract';
import {
  createClient,
  createConsumer,
  createTrustStore,
  type MeasurementRequest,
  type MeasurementResult,
} from '../../src/index.ts';

export interface PageOptions {
  baseUrl: string;
  token: string;
  rootPem: string;
  name: string;
  certificate: string;
  privateKeyPem: string;
  /** The public and the private encryption keyset are in base64. */
  encryptionPublicKey: string;
  encryptionPrivateKey: string;
}

function consumerOf(options: PageOptions) {
  const { baseUrl, token, rootPem, ...credentials } = options;
  return createConsumer({
    client: createClient({ baseUrl, token, maxAttempts: 1 }),
    trust: createTrustStore([{ pem: rootPem }]),
    credentials: {
      ...credentials,
      encryptionPublicKey: fromBase64(options.encryptionPublicKey)!,
      encryptionPrivateKey: fromBase64(options.encryptionPrivateKey)!,
    },
  });
}

/**
 * Runs a measurement. Calls the page's function `created` with the measurement's name, so that the test can answer as
 * the data providers.
 */
async function measure(options: PageOptions, request: MeasurementRequest): Promise<MeasurementResult> {
  const consumer = consumerOf(options);
  const { name } = await consumer.create(request);
  const { created } = globalThis as unknown as { created: (name: string) => Promise<void> };
  await created(name!);
  return consumer.open(await consumer.wait(name!, { pollMs: 50 }));
}

/** Flips a bit of the result, and then opens the result. Returns the name and the code of the error. */
async function openAltered(options: PageOptions, name: string): Promise<string> {
  const consumer = consumerOf(options);
  const measurement = await consumer.wait(name);
  const { ciphertext } = measurement.results![0]!.encryptedResult;
  ciphertext[ciphertext.length - 1]! ^= 1;
  return consumer.open(measurement).then(
    () => 'nothing',
    (error) => `${error.name} ${error.code}`,
  );
}

async function eventGroups(options: PageOptions): Promise<unknown[]> {
  const groups: unknown[] = [];
  for await (const { metadata } of consumerOf(options).listEventGroups()) groups.push(metadata?.json);
  return groups;
}

async function failure(options: PageOptions, name: string): Promise<string> {
  return consumerOf(options)
    .wait(name)
    .then(
      () => 'nothing',
      (error) => error.name,
    );
}

/**
 * Watches event groups until `count` changes have arrived. Returns the IDs of the changed event groups and the client's
 * warnings. Calls the page's function `began` when the watch begins.
 */
async function watch({ baseUrl, token, name }: PageOptions, count: number) {
  const warnings: string[] = [];
  const client = createClient({ baseUrl, token, onWarning: (message) => warnings.push(message) });
  const { began } = globalThis as unknown as { began: () => Promise<void> };
  const kinds = { 'filter.kinds': ['EVENT_GROUP' as const] };
  const ids: string[] = [];
  for await (const change of client.watch({ parent: name, ...kinds, onToken: () => void began() })) {
    ids.push(change.name.split('/').at(-1)!);
    if (ids.length === count) break;
  }
  return { ids, warnings };
}

export const page = { measure, openAltered, eventGroups, failure, watch };
export type Page = typeof page;

Object.assign(globalThis, { page });
