/**
 * Tests that gRPC services reject text with NUL characters, because PostgreSQL cannot store them. REST rejects NUL
 * characters anywhere in JSON.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  ApiKeys,
  type EventGroupMetadataSchema,
  EventGroups,
  Measurements,
  Populations,
  Requisition_Refusal_Justification,
  Requisitions,
} from '@measurement-exchange/contract/rpc';
import { useExchange } from '@measurement-exchange/testkit/exchange';
import { clientOf, createMeasurementRequest, failureOf } from '@measurement-exchange/testkit/rpc';
import { castOf, createMeasurement, requisitionOf } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';

const exchange = useExchange();
const NUL = 'a\0b';
const INVALID = 'invalid_argument INVALID_FIELD_VALUE';
const clientBy = <S extends Parameters<typeof clientOf>[1]>({ token }: { token: string }, service: S) =>
  clientOf(exchange.dev, service, { token });

it('a NUL character is rejected in a measurement', async () => {
  const { acme, streamly } = castOf(exchange);
  const client = clientBy(acme, Measurements);
  const request = createMeasurementRequest(acme, [streamly]);
  const { measurement } = request;
  expect(await failureOf(client.createMeasurement({ ...request, requestId: NUL }))).toBe(
    `${INVALID} request_id`,
  );
  measurement!.measurementReferenceId = NUL;
  const path = 'measurement.measurement_reference_id';
  expect(await failureOf(client.createMeasurement(request))).toBe(`${INVALID} ${path}`);
  const batch = { parent: acme.name, requests: [request] };
  expect(await failureOf(client.batchCreateMeasurements(batch))).toBe(`${INVALID} requests[0].${path}`);
  const list = { parent: acme.name, pageToken: NUL };
  expect(await failureOf(client.listMeasurements(list))).toMatch(/^invalid_argument .* page_token$/);
});

it('a NUL character is rejected in the refusal of a requisition', async () => {
  const { acme, streamly } = castOf(exchange);
  const measurement = await createMeasurement(exchange, acme, [streamly]);
  const { name } = await requisitionOf(exchange, streamly, measurement);
  const refusal = { justification: Requisition_Refusal_Justification.DECLINED, message: NUL };
  const client = clientBy(streamly, Requisitions);
  expect(await failureOf(client.refuseRequisition({ name, refusal }))).toBe(`${INVALID} refusal.message`);
});

it('a NUL character is rejected in an API key', async () => {
  const { acme } = castOf(exchange);
  const client = clientBy(acme, ApiKeys);
  const make = (apiKey: object) => failureOf(client.createApiKey({ parent: acme.name, apiKey }));
  expect(await make({ nickname: NUL })).toBe(`${INVALID} api_key.nickname`);
  expect(await make({ nickname: 'a', description: NUL })).toBe(`${INVALID} api_key.description`);
});

it('a NUL character is rejected in an event group', async () => {
  const { acme, streamly } = castOf(exchange);
  const client = clientBy(streamly, EventGroups);
  const make = (fields: object) =>
    failureOf(
      client.createEventGroup({
        parent: streamly.name,
        eventGroup: { measurementConsumer: acme.name, ...fields },
      }),
    );
  const described = (entityMetadata: object, brandName = 'b') =>
    make({
      eventGroupMetadata: {
        selector: { case: 'adMetadata', value: { campaignMetadata: { brandName } } },
        entityMetadata,
      } as MessageInitShape<typeof EventGroupMetadataSchema>,
    });
  expect(await make({ eventGroupReferenceId: NUL })).toBe(`${INVALID} event_group.event_group_reference_id`);
  expect(await make({ vidModelLines: [NUL] })).toBe(`${INVALID} event_group.vid_model_lines[0]`);
  const metadata = `${INVALID} event_group.event_group_metadata`;
  expect(await described({}, NUL)).toBe(`${metadata}.ad_metadata.campaign_metadata.brand_name`);
  expect(await described({ a: [{ b: NUL }] })).toBe(`${metadata}.entity_metadata`);
  expect(await described({ a: { [NUL]: 1 } })).toBe(`${metadata}.entity_metadata`);
});

it('a NUL character is rejected in a population', async () => {
  const client = clientBy(exchange.dev.operator, Populations);
  const value = { subpopulations: [{ vidRanges: [{ startVid: 1n, endVidInclusive: 2n }] }] };
  const population = {
    description: NUL,
    populationSpecRef: { case: 'populationSpec' as const, value },
  };
  expect(await failureOf(client.createPopulation({ population }))).toBe(`${INVALID} population.description`);
});
