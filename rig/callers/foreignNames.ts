/**
 * Sends requests for a resource under a parent that does not own it, and requests with names of other parties in bodies
 * and page tokens.
 */
import { API_PREFIX } from '@measurement-exchange/contract';
import type { World as Cast } from '@measurement-exchange/testkit/callers/world';
import { errorModelProblems } from '@measurement-exchange/testkit/errorModel';
import type { DevParty } from '@measurement-exchange/testkit/exchange';
import { fulfillment, measurementRequest } from '@measurement-exchange/testkit/requests';
import { castOf, requisitionOf } from '@measurement-exchange/testkit/steps';
import type { Violations } from '../harness.ts';
import type { Line } from './http.ts';

type Attempt = [title: string, party: DevParty, method: string, path: string, body: unknown, wanted: string];

/**
 * Sends the attempts, each of which must be rejected. Returns the number of requests, including those that get page
 * tokens for the attempts.
 */
export async function askWithForeignNames(cast: Cast, line: Line, violations: Violations): Promise<number> {
  let requests = 0;
  const ask = (party: DevParty, method: string, path: string, body?: unknown) => {
    requests += 1;
    return line.send({ method, target: `${API_PREFIX}/${path}`, token: party.token, body });
  };
  for (const [title, party, method, path, body, wanted] of await attempts(cast, ask)) {
    const response = await ask(party, method, path, body);
    const got =
      response.status === 200 ? '200' : `${response.status} ${response.json?.error?.details?.[0]?.reason}`;
    if (got !== wanted) violations.add(`${title}: ${party.name} got ${got} instead of ${wanted}`);
    if (response.status !== 200) {
      for (const problem of errorModelProblems(response)) violations.add(`${title}: ${problem}`);
    }
  }
  return requests;
}

async function attempts(
  { exchange, holdings }: Cast,
  ask: (party: DevParty, method: string, path: string) => ReturnType<Line['send']>,
): Promise<Attempt[]> {
  const { acme, globex, streamly, chirper } = castOf(exchange);
  const id = (party: DevParty, what: string) => holdings[party.name]!.ids[what]!;
  const measurement = { name: `${acme.name}/measurements/${id(acme, 'measurement')}` };
  const requisition = await requisitionOf(exchange, streamly, measurement);
  const stolen = `${chirper.name}/requisitions/${requisition.name.split('/').at(-1)}`;
  const taken = `${globex.name}/measurements/${id(acme, 'measurement')}`;
  const refusal = { refusal: { justification: 'DECLINED' }, etag: requisition.etag };
  const create = (changes: object) => ({ ...measurementRequest(acme, [streamly]), ...changes });
  const entries = measurementRequest(acme, [streamly]).dataProviders;
  const borrowed = { ...entries[streamly.name], dataProviderCertificate: chirper.certificate };
  const foreignDescriptor = `${chirper.name}/eventGroupMetadataDescriptors/${id(chirper, 'eventGroupMetadataDescriptor')}`;
  const metadata = { '@type': 'type.googleapis.com/a.M' };
  const described = {
    measurementConsumer: acme.name,
    encryptedMetadata: { metadata: { eventGroupMetadataDescriptor: foreignDescriptor, metadata } },
  };
  const tokenOf = async (party: DevParty, path: string) =>
    encodeURIComponent((await ask(party, 'GET', path)).json.nextPageToken);
  const requisitions = await tokenOf(streamly, `${streamly.name}/requisitions?pageSize=1`);
  const measurements = await tokenOf(acme, `${acme.name}/measurements?pageSize=1`);
  const INVALID = '400 INVALID_FIELD_VALUE';
  const FOREIGN_TOKEN = '400 INVALID_PAGE_TOKEN';
  return [
    [
      'reading a requisition through another provider',
      chirper,
      'GET',
      stolen,
      undefined,
      '404 REQUISITION_NOT_FOUND',
    ],
    [
      'fulfilling a requisition through another provider',
      chirper,
      'POST',
      `${stolen}:fulfillDirect`,
      fulfillment(chirper, requisition, 1n),
      '404 REQUISITION_NOT_FOUND',
    ],
    [
      'refusing a requisition through another provider',
      chirper,
      'POST',
      `${stolen}:refuse`,
      refusal,
      '404 REQUISITION_NOT_FOUND',
    ],
    [
      'reading a measurement through another consumer',
      globex,
      'GET',
      taken,
      undefined,
      '404 MEASUREMENT_NOT_FOUND',
    ],
    [
      'cancelling a measurement through another consumer',
      globex,
      'POST',
      `${taken}:cancel`,
      {},
      '404 MEASUREMENT_NOT_FOUND',
    ],
    [
      'the name of a measurement in a batch of another consumer',
      globex,
      'POST',
      `${globex.name}/measurements:batchGet`,
      { names: [measurement.name] },
      INVALID,
    ],
    [
      "another provider's certificate in a fulfillment",
      streamly,
      'POST',
      `${requisition.name}:fulfillDirect`,
      fulfillment({ ...streamly, certificate: chirper.certificate }, requisition, 1n),
      INVALID,
    ],
    [
      "another consumer's certificate in a measurement",
      acme,
      'POST',
      `${acme.name}/measurements`,
      create({ measurementConsumerCertificate: globex.certificate }),
      INVALID,
    ],
    [
      "another provider's certificate in an entry of a measurement",
      acme,
      'POST',
      `${acme.name}/measurements`,
      create({ dataProviders: { [streamly.name]: borrowed } }),
      INVALID,
    ],
    [
      "another provider's descriptor in an event group",
      streamly,
      'POST',
      `${streamly.name}/eventGroups`,
      described,
      INVALID,
    ],
    [
      "another provider's page token",
      chirper,
      'GET',
      `${chirper.name}/requisitions?pageToken=${requisitions}`,
      undefined,
      FOREIGN_TOKEN,
    ],
    [
      "another consumer's page token",
      globex,
      'GET',
      `${globex.name}/measurements?pageToken=${measurements}`,
      undefined,
      FOREIGN_TOKEN,
    ],
    [
      'the page token of another list',
      acme,
      'GET',
      `${measurement.name}/requisitions?pageToken=${measurements}`,
      undefined,
      FOREIGN_TOKEN,
    ],
    [
      'the page token of another filter',
      acme,
      'GET',
      `${acme.name}/measurements?filter.states=FAILED&pageToken=${measurements}`,
      undefined,
      FOREIGN_TOKEN,
    ],
  ];
}
