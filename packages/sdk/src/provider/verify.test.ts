import { createEncryptionKeysets, nonceHash, packEncryptionPublicKey } from '@measurement-exchange/consent';
import { ExchangeError, toBase64 } from '@measurement-exchange/contract';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  CONSUMER,
  createWorld,
  entry,
  eventGroups,
  fails,
  group,
  keysOf,
  NOW,
  PROVIDER,
  privacy,
  SPRING,
  text,
  type World,
} from '../../test/provider/requisitions.ts';
import { SPOILED } from '../../test/provider/spoiledRequisitions.ts';
import { Unreachable } from '../client/index.ts';
import { RefusalError } from '../refusals/refusalError.ts';
import { verifyRequisition } from './verify.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});

describe('a valid requisition', () => {
  it('is verified, and returns the inputs of a computation', async () => {
    const requisition = await world.requisition({
      requisitionSpec: eventGroups(entry(SPRING, 'age > 5'), entry(`${PROVIDER}/eventGroups/summer`)),
      spec: { vidSamplingInterval: { start: 0.25, width: 0.5 } },
    });
    const verified = await verifyRequisition(requisition, world.context());
    const interval = { start: new Date('2026-07-01'), end: new Date('2026-07-04') };
    expect(verified).toMatchObject({
      name: `${PROVIDER}/requisitions/r1`,
      measurementConsumer: CONSUMER,
      spec: { measurementType: 'REACH', reach: privacy(0.5) },
      vidSampling: { start: 0.25, width: 0.5 },
      nonce: 0xb09d9f98ecd52179n,
      resultKeyset: world.consumer.keysets.publicKeyset,
    });
    expect(verified.selection).toEqual({
      events: [
        { eventGroup: SPRING, reference: 'spring', interval, filter: 'age > 5' },
        { eventGroup: `${PROVIDER}/eventGroups/summer`, reference: 'spring', interval },
      ],
    });
  });

  it('may be in JSON, with the key as a keyset or as an EncryptionPublicKey', async () => {
    const { publicKeyset } = world.consumer.keysets;
    const nonce = 12345678901234567890n;
    const hash = await nonceHash(nonce);
    for (const key of [publicKeyset, packEncryptionPublicKey(publicKeyset)]) {
      const spec = text({
        measurementPublicKey: toBase64(key),
        vidSamplingInterval: { start: 0, width: 1 },
        nonceHashes: [toBase64(hash)],
        reach: privacy(0.5),
      });
      const requisitionSpec = new TextEncoder().encode(
        `{"measurementPublicKey": "${toBase64(key)}", "nonce": ${nonce}, "events": {"eventGroups": [{"key": "${SPRING}",
          "value": {"collectionInterval": {"startTime": "2026-07-01T00:00:00Z", "endTime": "2026-07-02T00:00:00Z"},
          "filter": {"expression": "true"}}}]}}`,
      );
      const requisition = await world.requisition({ spec, requisitionSpec, relayed: { nonceHash: hash } });
      const verified = await verifyRequisition(requisition, world.context());
      expect(verified).toMatchObject({ nonce, resultKeyset: publicKeyset });
      expect(verified.selection.events).toMatchObject([{ reference: 'spring', filter: 'true' }]);
    }
  });

  it('may use the old fields that preceded Any and `events`', async () => {
    const key = packEncryptionPublicKey(world.consumer.keysets.publicKeyset);
    const requisition = await world.requisition({
      spec: { measurementPublicKey: undefined, serializedMeasurementPublicKey: key },
      requisitionSpec: {
        measurementPublicKey: undefined,
        serializedMeasurementPublicKey: key,
        requisitionType: { case: undefined },
        eventGroups: [entry(SPRING)],
      },
    });
    const { selection } = await verifyRequisition(requisition, world.context());
    expect(selection.events).toMatchObject([{ reference: 'spring' }]);
  });

  it('may be encrypted with an earlier key of the provider', async () => {
    const current = await createEncryptionKeysets();
    const keys = [
      { encryptionPublicKey: current.publicKeyset, encryptionPrivateKey: current.privateKeyset },
      keysOf(world.provider),
    ];
    const { selection } = await verifyRequisition(await world.requisition(), world.context({ keys }));
    expect(selection.events).toMatchObject([{ reference: 'spring' }]);
  });

  it('may select a population, without event groups', async () => {
    const requisition = await world.requisition({
      spec: { measurementType: { case: 'population', value: {} }, vidSamplingInterval: undefined },
      requisitionSpec: {
        requisitionType: { case: 'population', value: { filter: { expression: 'age > 17' } } },
      },
    });
    const { selection } = await verifyRequisition(requisition, world.context());
    expect(selection).toEqual({ population: { filter: 'age > 17' } });
  });

  it('selects the events of the reference that lists the event group', async () => {
    const references = { 'campaign-17': { measurementConsumers: [CONSUMER], eventGroups: [SPRING] } };
    for (const eventGroupReferenceId of ['spring', '', undefined]) {
      const context = world.context({ references, ...group(world, { eventGroupReferenceId }) });
      const { selection } = await verifyRequisition(await world.requisition(), context);
      expect(selection.events).toMatchObject([{ reference: 'campaign-17' }]);
    }
  });

  it('uses the reference from the exchange if references are unchecked', async () => {
    const context = world.context({ references: 'unchecked' });
    const { selection } = await verifyRequisition(await world.requisition(), context);
    expect(selection.events).toMatchObject([{ reference: 'spring' }]);
  });
});

describe('an invalid requisition', () => {
  it.each(SPOILED)('is refused if %s (%s)', async (_what, justification, message, spoil) => {
    const { context, ...draft } = await spoil(world);
    const requisition = await world.requisition(draft);
    const refusal = await verifyRequisition(requisition, world.context(context)).catch((error) => error);
    expect(refusal).toBeInstanceOf(RefusalError);
    expect(refusal.justification).toBe(justification);
    expect(`${refusal.message} ${refusal.cause?.code}`).toContain(message);
  });
});

describe('a requisition that cannot be verified for now', () => {
  it.each<[string, Error]>([
    ['does not respond', new Unreachable('connection refused')],
    ['is overloaded', new ExchangeError('UNAVAILABLE', 'later')],
    ['does not know the route', new ExchangeError('ROUTE_NOT_FOUND', 'no route')],
    ['denies permission', new ExchangeError('PERMISSION_DENIED', 'no')],
  ])('is not refused if the exchange %s', async (_what, error) => {
    const requisition = await world.requisition();
    for (const fetch of ['fetchCertificate', 'fetchEventGroup'] as const) {
      const outcome = verifyRequisition(requisition, world.context({ [fetch]: fails(error) }));
      await expect(outcome).rejects.toBe(error);
    }
  });

  it('is not refused if its certificate is not valid yet', async () => {
    const context = world.context({ now: new Date(NOW - 7200_000) });
    const error = await verifyRequisition(await world.requisition(), context).catch((error) => error);
    expect(error).toMatchObject({ name: 'ConsentError', code: 'CERTIFICATE_NOT_YET_VALID' });
  });

  it('is not refused if the key of the provider is damaged', async () => {
    const keys = [{ ...keysOf(world.provider), encryptionPrivateKey: Uint8Array.of(1) }];
    const error = await verifyRequisition(await world.requisition(), world.context({ keys })).catch((e) => e);
    expect(error).toMatchObject({ name: 'ConsentError' });
  });
});
