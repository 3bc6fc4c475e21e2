/**
 * Calls operations of every resource on a running exchange with the client. routes.test.ts covers every row of the
 * routes table except streams.
 */
import type { Operation } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { createRoot, issueLeaf } from '../../src/identity/index.ts';
import { cast, clientOf, create, exchange, newFulfillment, requisitionOf, useExchange } from './world.ts';

useExchange();

describe('the client', () => {
  const descriptorSet = (...names: string[]) => ({
    file: [
      {
        name: 'ads.proto',
        package: 'ads',
        syntax: 'proto3',
        messageType: [
          {
            name: 'Ad',
            field: names.map((name, i) => ({
              name,
              number: i + 1,
              type: 'TYPE_STRING',
              label: 'LABEL_OPTIONAL',
            })),
          },
        ],
      },
    ],
  });
  const SEALED = { ciphertext: Buffer.from('sealed'), typeUrl: 'type' };
  /** The names of resources that earlier calls created. */
  const made: Record<string, string> = {};
  const [acme, streamly] = [() => clientOf(cast.acme), () => clientOf(cast.streamly)];
  const operator = () => clientOf(exchange.dev.operator);
  const group = () => ({ measurementConsumer: cast.acme.name });
  const keep = (as: string, { name }: { name?: string }) => {
    made[as] = name!;
  };

  /**
   * Valid calls of operations, in the order in which they run. Each call comes after the calls that create the
   * resources it needs.
   */
  const CALLS: Partial<Record<Operation, () => Promise<unknown>>> = {
    whoAmI: async () => expect((await acme().whoAmI()).principal).toBe(cast.acme.name),

    createParty: async () =>
      keep(
        'party',
        await operator().createParty({
          collection: 'duchies',
          duchyId: 'worker',
          body: { displayName: 'Worker' },
        }),
      ),
    getParty: async () =>
      expect((await operator().getParty({ name: made.party! })).displayName).toBe('Worker'),
    listParties: async () => {
      const duchies = await Array.fromAsync(operator().listParties({ collection: 'duchies' }));
      expect(duchies.map((d) => d.name)).toEqual([made.party]);
    },
    getPartySummary: async () => {
      const { measurements, time } = await acme().getPartySummary({ name: cast.acme.name });
      expect([measurements!.states.length, Date.parse(time) > 0]).toEqual([5, true]);
    },
    updateParty: async () => {
      const { displayName } = await operator().updateParty({ name: made.party!, body: { displayName: 'W' } });
      expect(displayName).toBe('W');
    },
    suspendParty: async () =>
      expect((await operator().suspendParty({ name: made.party! })).state).toBe('SUSPENDED'),
    resumeParty: async () =>
      expect((await operator().resumeParty({ name: made.party! })).state).toBe('ACTIVE'),

    createTrustedRoot: async () => {
      const root = await createRoot('A root', Date.now());
      const { der } = await issueLeaf(root, 'W', Date.now());
      made.leaf = Buffer.from(der).toString('base64');
      keep(
        'root',
        await operator().createTrustedRoot({ body: { x509Pem: root.certificatePem, party: made.party! } }),
      );
    },
    listTrustedRoots: async () =>
      expect((await operator().listTrustedRoots().page()).trustedRoots.map((r) => r.name)).toContain(
        made.root,
      ),
    deleteTrustedRoot: async () => {
      expect((await operator().deleteTrustedRoot({ name: made.root! })).name).toBe(made.root);
    },

    createPopulation: async () => {
      const vidRanges = [
        { start: 11, end: 20 },
        { start: 1, end: 10 },
      ];
      const population = await operator().createPopulation({ populationId: 'people', body: { vidRanges } });
      expect([population.size, population.vidRanges]).toEqual([20, vidRanges.toReversed()]);
      keep('population', population);
    },
    getPopulation: async () =>
      expect((await acme().getPopulation({ name: made.population! })).fingerprint).toHaveLength(32),
    listPopulations: async () =>
      expect((await Array.fromAsync(streamly().listPopulations())).map((p) => p.name)).toEqual([
        made.population,
      ]),
    updatePopulation: async () => {
      const body = { default: true, modelLines: ['line'] };
      const population = await operator().updatePopulation({ name: made.population!, body });
      expect([population.default, population.modelLines]).toEqual([true, ['line']]);
    },

    createCertificate: async () =>
      keep(
        'certificate',
        await operator().createCertificate({
          parent: made.party!,
          body: { x509Der: Buffer.from(made.leaf!, 'base64') },
        }),
      ),
    getCertificate: async () => {
      const certificate = await acme().getCertificate({ name: `${made.party}/certificates/preferred` });
      expect([certificate.name, Buffer.from(certificate.x509Der).toString('base64')]).toEqual([
        made.certificate,
        made.leaf,
      ]);
    },
    listCertificates: async () => {
      const { subjectKeyIdentifier } = await operator().getCertificate({ name: made.certificate! });
      const list = (id: Uint8Array) =>
        Array.fromAsync(
          operator().listCertificates({ parent: made.party!, 'filter.subjectKeyIdentifiers': [id] }),
        );
      expect(await list(subjectKeyIdentifier)).toHaveLength(1);
      expect(await list(Uint8Array.of(1, 2, 3))).toHaveLength(0);
    },
    revokeCertificate: async () => {
      const body = { revocationState: 'HOLD' } as const;
      expect((await operator().revokeCertificate({ name: made.certificate!, body })).revocationState).toBe(
        'HOLD',
      );
    },
    releaseCertificateHold: async () => {
      // The exchange replies "retry" until it has processed all measurements that relied on the certificate.
      const release = () => operator().releaseCertificateHold({ name: made.certificate! });
      await expect
        .poll(() => release().catch((error) => error.code))
        .toMatchObject({ name: made.certificate });
    },

    createPrincipal: async () =>
      keep(
        'principal',
        await operator().createPrincipal({
          body: { issuer: 'https://id.example.com', subject: 'bob', resource: made.party! },
        }),
      ),
    listPrincipals: async () => {
      const found = await Array.fromAsync(operator().listPrincipals({ 'filter.resource': made.party! }));
      expect(found.map((p) => p.subject)).toEqual(['bob']);
    },
    deletePrincipal: async () =>
      expect((await operator().deletePrincipal({ name: made.principal! })).subject).toBe('bob'),

    createEventGroupMetadataDescriptor: async () =>
      keep(
        'descriptor',
        await streamly().createEventGroupMetadataDescriptor({
          parent: cast.streamly.name,
          body: { descriptorSet: descriptorSet('brand') },
        }),
      ),
    updateEventGroupMetadataDescriptor: async () =>
      await streamly().updateEventGroupMetadataDescriptor({
        name: made.descriptor!,
        body: { descriptorSet: descriptorSet('brand', 'campaign') },
      }),
    getEventGroupMetadataDescriptor: async () => {
      const asJson = await acme().getEventGroupMetadataDescriptor({ name: made.descriptor! });
      expect(asJson.descriptorSet).toMatchObject(descriptorSet('brand', 'campaign'));
      const asBytes = await acme().getEventGroupMetadataDescriptor({
        name: made.descriptor!,
        descriptorSetEncoding: 'BASE64',
      });
      expect(asBytes.descriptorSet).toMatch(/^[\w+/=]+$/);
    },
    batchGetEventGroupMetadataDescriptors: async () => {
      const names = [made.descriptor!, made.descriptor!];
      const parent = 'dataProviders/-';
      const found = await acme().batchGetEventGroupMetadataDescriptors({ parent, names });
      expect(found.eventGroupMetadataDescriptors.map((d) => d.name)).toEqual(names);
    },
    listEventGroupMetadataDescriptors: async () => {
      const all = acme().listEventGroupMetadataDescriptors({ parent: 'dataProviders/-' });
      expect((await Array.fromAsync(all)).map((d) => d.name)).toEqual([made.descriptor]);
    },
    diffEventGroupMetadataDescriptor: async () => {
      const body = { descriptorSet: descriptorSet('brand') };
      const diff = await acme().diffEventGroupMetadataDescriptor({ name: made.descriptor!, body });
      expect(diff.changes.map((c) => c.breaking)).toEqual([true]);
    },
    decodeMetadata: async () => {
      // The bytes encode protobuf field 1 with the text "Mo".
      const body = { typeUrl: 'type.googleapis.com/ads.Ad', value: Uint8Array.of(10, 2, 77, 111) };
      const { message } = await acme().decodeMetadata({ name: made.descriptor!, body });
      expect(message).toEqual({ brand: 'Mo' });
    },

    createEventGroup: async () => {
      const metadata = { '@type': 'type.googleapis.com/ads.Ad', brand: 'Mo' };
      const encryptedMetadata = {
        metadata: { eventGroupMetadataDescriptor: made.descriptor!, metadata },
      };
      keep(
        'group',
        await streamly().createEventGroup({
          parent: cast.streamly.name,
          body: { ...group(), encryptedMetadata },
        }),
      );
    },
    getEventGroup: async () =>
      expect((await streamly().getEventGroup({ name: made.group! })).measurementConsumer).toBe(
        cast.acme.name,
      ),
    decodeEventGroup: async () =>
      expect((await streamly().decodeEventGroup({ name: made.group! })).message).toMatchObject({
        brand: 'Mo',
      }),
    updateEventGroup: async () => {
      const read = await streamly().getEventGroup({ name: made.group! });
      const body = { ...read, eventGroupReferenceId: 'ref' };
      const changed = await streamly().updateEventGroup({ name: made.group!, body });
      expect(changed).toMatchObject({ eventGroupReferenceId: 'ref', state: 'ACTIVE' });
    },
    batchCreateEventGroups: async () => {
      const body = { requests: [{ eventGroup: group() }, { eventGroup: group() }] };
      const { eventGroups } = await streamly().batchCreateEventGroups({ parent: cast.streamly.name, body });
      expect(eventGroups).toHaveLength(2);
      keep('group2', eventGroups[0]!);
    },
    batchUpdateEventGroups: async () => {
      const eventGroup = { ...group(), name: made.group2!, mediaTypes: ['VIDEO' as const] };
      const { eventGroups } = await streamly().batchUpdateEventGroups({
        parent: cast.streamly.name,
        body: { requests: [{ eventGroup }] },
      });
      expect(eventGroups[0]!.mediaTypes).toEqual(['VIDEO']);
    },
    deleteEventGroup: async () =>
      expect((await streamly().deleteEventGroup({ name: made.group2! })).state).toBe('DELETED'),
    listEventGroups: async () => {
      const list = (showDeleted: boolean) =>
        Array.fromAsync(acme().listEventGroups({ parent: cast.acme.name, showDeleted }));
      expect([(await list(false)).length, (await list(true)).length]).toEqual([2, 3]);
    },

    createMeasurement: async () => keep('measurement', await create([cast.streamly, cast.chirper])),
    getMeasurement: async () =>
      expect((await acme().getMeasurement({ name: made.measurement! })).state).toBe(
        'AWAITING_REQUISITION_FULFILLMENT',
      ),
    listMeasurements: async () => {
      const all = acme().listMeasurements({
        parent: cast.acme.name,
        'filter.states': ['AWAITING_REQUISITION_FULFILLMENT'],
      });
      expect((await Array.fromAsync(all)).map((m) => m.name)).toContain(made.measurement);
    },
    batchGetMeasurements: async () => {
      const body = { names: [made.measurement!] };
      const { measurements } = await acme().batchGetMeasurements({ parent: cast.acme.name, body });
      expect(measurements.map((m) => m.name)).toEqual(body.names);
    },
    createReport: async () => {
      const body = { sealedDefinition: SEALED, definitionHash: Buffer.alloc(32, 1) };
      const report = await acme().createReport({
        parent: cast.acme.name,
        reportId: 'spring',
        requestId: 'report',
        body,
      });
      expect([report.name, report.state]).toEqual([`${cast.acme.name}/reports/spring`, 'PLANNED']);
      keep('report', report);
    },
    updateReport: async () => {
      const { etag } = await acme().getReport({ name: made.report! });
      const measurements = [{ key: '0a'.repeat(32), measurement: made.measurement! }];
      const body = { etag: etag!, measurements, sealedAnswer: SEALED };
      const report = await acme().updateReport({ name: made.report!, body });
      expect([report.state, report.measurements]).toEqual(['RUNNING', measurements]);
    },
    getReport: async () => {
      const { sealedAnswer } = await acme().getReport({ name: made.report! });
      expect([Buffer.from(sealedAnswer!.ciphertext), sealedAnswer!.typeUrl]).toEqual(Object.values(SEALED));
    },
    listReports: async () => {
      const all = acme().listReports({ parent: cast.acme.name, 'filter.states': ['RUNNING'] });
      expect((await Array.fromAsync(all)).map((report) => report.name)).toEqual([made.report]);
    },
    deleteReport: async () => {
      expect((await acme().deleteReport({ name: made.report! })).name).toBe(made.report);
    },
    listMeasurementRequisitions: async () => {
      const all = await Array.fromAsync(acme().listMeasurementRequisitions({ parent: made.measurement! }));
      expect(all).toHaveLength(2);
      keep('measurementRequisition', all[0]!);
    },
    getMeasurementRequisition: async () =>
      expect(
        (await acme().getMeasurementRequisition({ name: made.measurementRequisition! })).measurement,
      ).toBe(made.measurement),
    listRequisitions: async () => {
      const page = await streamly()
        .listRequisitions({ parent: cast.streamly.name, 'filter.states': ['UNFULFILLED'] })
        .page();
      const found = page.requisitions.find((r) => r.measurement === made.measurement)!;
      keep('requisition', found);
    },
    getRequisition: async () =>
      expect((await streamly().getRequisition({ name: made.requisition! })).state).toBe('UNFULFILLED'),
    deferRequisition: async () => {
      const until = new Date(Date.now() + 3600_000).toISOString().replace('Z', '000Z');
      const body = { reason: 'The logs come in an hour.', until };
      const { deferral } = await streamly().deferRequisition({ name: made.requisition!, body });
      expect(deferral).toEqual(body);
    },
    explainRequisition: async () => {
      const { waitingFor } = await streamly().explainRequisition({ name: made.requisition! });
      expect(waitingFor).toMatchObject([{ code: 'DEFERRED', party: cast.streamly.name }]);
    },
    fulfillDirectRequisition: async () => {
      const { etag } = await streamly().getRequisition({ name: made.requisition! });
      const done = await streamly().fulfillDirectRequisition({
        name: made.requisition!,
        body: newFulfillment(cast.streamly, etag!),
      });
      expect([done.state, done.nonce]).toEqual(['FULFILLED', 1n]);
    },
    refuseRequisition: async () => {
      const { name, etag } = await requisitionOf(cast.chirper, { name: made.measurement! });
      const body = { etag: etag!, refusal: { justification: 'DECLINED' as const, message: 'not now' } };
      const { state } = await clientOf(cast.chirper).refuseRequisition({ name: name!, body });
      expect(state).toBe('REFUSED');
    },
    getRequisitionTimeline: async () => {
      const transitions = await Array.fromAsync(
        streamly().getRequisitionTimeline({ name: made.requisition!, pageSize: 1 }),
      );
      expect(transitions.map((t) => t.cause)).toEqual(['created', 'deferred', 'fulfilled']);
    },
    getMeasurementTimeline: async () => {
      const transitions = await Array.fromAsync(
        acme().getMeasurementTimeline({ name: made.measurement!, pageSize: 2 }),
      );
      expect(transitions.at(-1)).toMatchObject({ to: 'FAILED', cause: 'refused', actor: cast.chirper.name });
    },
    explainMeasurement: async () => {
      const { ending } = await acme().explainMeasurement({ name: made.measurement! });
      expect(ending!.code).toBe('REFUSED');
    },
    cancelMeasurement: async () => {
      const { name } = await create([cast.streamly]);
      expect((await acme().cancelMeasurement({ name: name!, validateOnly: true })).name).toBeUndefined();
      expect((await acme().cancelMeasurement({ name: name! })).state).toBe('CANCELLED');
    },
    listChanges: async () => {
      const first = async () =>
        (await acme().listChanges({ parent: cast.acme.name, from: 'OLDEST' })).changes[0];
      // Poll, because another test's open transaction on the same server can delay new entries in the log.
      await expect
        .poll(first, { timeout: 90_000 })
        .toMatchObject({ name: cast.acme.name, kind: 'PARTY', version: 1 });
    },
    listPartyHealth: async () => {
      const parties = await Array.fromAsync(operator().listPartyHealth({ pageSize: 2 }));
      expect(parties.map(({ name }) => name)).toContain(made.party);
    },
    getExchangeStatus: async () =>
      expect((await operator().getExchangeStatus()).replicas.length).toBeGreaterThanOrEqual(1),
    runDoctor: async () => expect((await operator().runDoctor({ validateOnly: true })).running).toBe(false),
    getDoctor: async () => expect((await operator().getDoctor()).findings).toEqual([]),
    listAuditEntries: async () => {
      const audited = () => Array.fromAsync(operator().listAuditEntries({ 'filter.name': made.party! }));
      // Poll, because the log shows an entry only after all older transactions on the server have ended.
      await expect.poll(async () => (await audited()).length, { timeout: 90_000 }).toBe(4);
    },
  };

  it('calls the operations of every resource and returns their results', async () => {
    for (const [operation, call] of Object.entries(CALLS)) {
      await call().catch((error) => {
        throw new Error(`${operation}: ${error.message}`, { cause: error });
      });
    }
  });
});
