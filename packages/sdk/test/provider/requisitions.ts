/**
 * Creates requisitions as the exchange passes them to a provider, signed with this module's own keys. Tests can alter
 * any part.
 */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import {
  createSigner,
  createTrustStore,
  encrypt,
  nonceHash,
  packSignedMessage,
} from '@measurement-exchange/consent';
import {
  type Certificate,
  type EventGroup,
  type RefusalJustification,
  type Requisition,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { createIdentity, createRoot, type Identity, issueLeaf } from '../../src/identity/index.ts';
import type { VerifyContext } from '../../src/provider/verify.ts';

export const NOW = Date.UTC(2026, 6, 28);
export const CONSUMER = 'measurementConsumers/acme';
export const PROVIDER = 'dataProviders/streamly';
export const SPRING = `${PROVIDER}/eventGroups/spring`;
const NONCE = 0xb09d9f98ecd52179n;
const PRIVACY = { epsilon: 0.5, delta: 1e-9 };

export const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
export const privacy = (epsilon: number, delta = 1e-9) => ({ privacyParams: { epsilon, delta } });
export const fails = (error: Error) => () => Promise.reject(error);

export type SpecInit = MessageInitShape<typeof specs.MeasurementSpecSchema>;
export type RequisitionSpecInit = MessageInitShape<typeof specs.RequisitionSpecSchema>;

export interface Draft {
  /** Members of the MeasurementSpec to replace, or its complete bytes. */
  spec?: SpecInit | Uint8Array;
  requisitionSpec?: RequisitionSpecInit | Uint8Array;
  /** The key that signs the MeasurementSpec, in PEM. The default is the consumer's key. */
  specKeyPem?: string;
  requisitionSpecKeyPem?: string;
  encryptTo?: Uint8Array;
  /** Members of the requisition that the exchange changes before it passes the requisition to the provider. */
  relayed?: Partial<Requisition>;
}

export type Spoiled = Draft & { context?: Partial<VerifyContext> };
/** `says` is a part of the refusal's message, or the code of the underlying fault. */
export type SpoiledRow = [
  what: string,
  justification: RefusalJustification,
  says: string,
  spoil: (world: World) => Spoiled | Promise<Spoiled>,
];

/** A consumer with its certificate, and a provider with an event group. `context` trusts only the consumer's root. */
export interface World {
  consumer: Identity;
  provider: Identity;
  certificate: Certificate;
  eventGroup: EventGroup;
  requisition(draft?: Draft): Promise<Requisition>;
  context(changes?: Partial<VerifyContext>): VerifyContext;
}

export async function createWorld(): Promise<World> {
  const party = (commonName: string) => createIdentity({ commonName, now: NOW, days: 365 });
  const [consumer, provider] = await Promise.all([party('Acme'), party('Streamly')]);
  const certificate = certificateOf(consumer);
  const eventGroup: EventGroup = {
    name: SPRING,
    measurementConsumer: CONSUMER,
    eventGroupReferenceId: 'spring',
    state: 'ACTIVE',
  };
  return {
    consumer,
    provider,
    certificate,
    eventGroup,
    requisition: (draft = {}) => makeRequisition(consumer, provider, draft),
    context: (changes) => ({
      name: PROVIDER,
      keys: [keysOf(provider)],
      trust: createTrustStore([{ party: CONSUMER, pem: consumer.root.certificatePem }]),
      fetchCertificate: async () => certificate,
      fetchEventGroup: async () => eventGroup,
      references: { spring: { measurementConsumers: [CONSUMER], served: true } },
      now: new Date(NOW),
      ...changes,
    }),
  };
}

export const keysOf = ({ keysets }: Identity) => ({
  encryptionPublicKey: keysets.publicKeyset,
  encryptionPrivateKey: keysets.privateKeyset,
});

/**
 * Issues a certificate to another party. Returns the other party's private key, and a certificate resource that
 * contains the issued certificate but has the name of the consumer's certificate.
 */
export async function otherLeaf(root: Identity['root'], at = NOW, days = 365) {
  const { certificatePem, privateKeyPem } = await issueLeaf(root, 'Somebody', at, { days });
  return { privateKeyPem, certificate: certificateOf({ certificatePem }) };
}

export const strangersRoot = () => createRoot('Stranger', NOW);

export function certificateOf({ certificatePem }: { certificatePem: string }): Certificate {
  const base64 = certificatePem.replace(/-----[^-]+-----|\s/g, '');
  return {
    name: `${CONSUMER}/certificates/c1`,
    x509Der: new Uint8Array(Buffer.from(base64, 'base64')),
    subjectKeyIdentifier: new Uint8Array(20),
    notBefore: '',
    notAfter: '',
  };
}

async function makeRequisition(consumer: Identity, provider: Identity, draft: Draft): Promise<Requisition> {
  const measurementPublicKey = anyPack(
    specs.EncryptionPublicKeySchema,
    create(specs.EncryptionPublicKeySchema, {
      format: specs.EncryptionPublicKey_Format.TINK_KEYSET,
      data: consumer.keysets.publicKeyset,
    }),
  );
  const hash = await nonceHash(NONCE);
  const spec = bytesOf(specs.MeasurementSpecSchema, draft.spec, {
    measurementPublicKey,
    nonceHashes: [new Uint8Array(32), hash],
    vidSamplingInterval: { start: 0, width: 1 },
    measurementType: { case: 'reach', value: { privacyParams: PRIVACY } },
  });
  const requisitionSpec = bytesOf(specs.RequisitionSpecSchema, draft.requisitionSpec, {
    nonce: NONCE,
    measurementPublicKey,
    requisitionType: { case: 'events', value: { eventGroups: [entry(SPRING)] } },
  });
  const sign = async (message: Uint8Array, pem = consumer.privateKeyPem) =>
    (await createSigner(pem)).sign(message);
  const signed = packSignedMessage(
    await sign(requisitionSpec, draft.requisitionSpecKeyPem),
    TYPE_URLS.RequisitionSpec,
  );
  return {
    name: `${PROVIDER}/requisitions/r1`,
    state: 'UNFULFILLED',
    measurement: `${CONSUMER}/measurements/m1`,
    measurementConsumerCertificate: `${CONSUMER}/certificates/c1`,
    measurementSpec: await sign(spec, draft.specKeyPem),
    dataProvider: PROVIDER,
    dataProviderCertificate: `${PROVIDER}/certificates/c1`,
    dataProviderPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: provider.keysets.publicKeyset },
    encryptedRequisitionSpec: {
      ciphertext: await encrypt(draft.encryptTo ?? provider.keysets.publicKeyset, signed),
      typeUrl: TYPE_URLS.RequisitionSpec,
    },
    nonceHash: hash,
    protocolConfig: { measurementType: 'REACH', direct: {} },
    etag: 'etag',
    ...draft.relayed,
  };
}

function bytesOf<S extends typeof specs.MeasurementSpecSchema | typeof specs.RequisitionSpecSchema>(
  schema: S,
  given: MessageInitShape<S> | Uint8Array | undefined,
  usual: MessageInitShape<S>,
): Uint8Array {
  if (given instanceof Uint8Array) return given;
  return toBinary(schema, create(schema, { ...usual, ...given }));
}

/** An event group entry. `from` and `to` are days of July 2026, and `to` is exclusive. Default: July 1 to 3. */
export function entry(key: string, filter?: string, [from, to]: [number, number] = [1, 4]) {
  const at = (day: number) => ({ seconds: BigInt(Date.UTC(2026, 6, day) / 1000) });
  return {
    key,
    value: {
      collectionInterval: { startTime: at(from), endTime: at(to) },
      ...(filter !== undefined && { filter: { expression: filter } }),
    },
  };
}

export const eventGroups = (...entries: ReturnType<typeof entry>[]): RequisitionSpecInit => ({
  requisitionType: { case: 'events', value: { eventGroups: entries } },
});

/** A context in which the exchange returns a changed event group. */
export const group = (world: World, change: object) => ({
  fetchEventGroup: async () => ({ ...world.eventGroup, ...change }) as never,
});
