/**
 * Creates a duchy without a database, and a spec and requisitions from which tests build computations. The tests check
 * which of these computations the duchy accepts.
 */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  createEncryptionKeysets,
  createSigner,
  createTrustStore,
  nonceHash,
  packEncryptionPublicKey,
  type Signer,
} from '@measurement-exchange/consent';
import {
  type Computation,
  ExchangeError,
  type SignedMessage,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { createIdentity, type Identity } from '@measurement-exchange/sdk/identity';
import { accept } from '../src/computations/accept.ts';
import type { Duchy } from '../src/computations/context.ts';
import { PermanentError } from '../src/computations/errors.ts';

export const CONSUMER = 'measurementConsumers/acme';
export const VID_RANGES = [{ start: 1, end: 1000 }];
export const PRIVACY = { epsilon: 0.5, delta: 1e-9 };
export type SpecInit = Exclude<MessageInitShape<typeof specs.MeasurementSpecSchema>, { $typeName: string }>;

export interface Accepting {
  /**
   * The duchy `duchies/beta`. The exchange that it calls has two certificates of the consumer, one of which was issued
   * by another party's root.
   */
  duchy: Duchy;
  stranger: Identity;
  /** The spec of a reach measurement of two providers. It has the consumer's key for encrypting the result. */
  spec: SpecInit;
  /** Two requisitions. Alpha receives the upload for one, and beta for the other. */
  requisitions: Computation['requisitions'];
  /** Signs a spec with the consumer's key, or with `by`. */
  signed(spec: SpecInit, by?: Signer): Promise<SignedMessage>;
  /** Values that the simulated exchange returns. A test may change them at any time. */
  says: { revocationState: 'REVOKED' | undefined; vidRanges: { start: number; end: number }[] };
}

/**
 * Returns why a duchy rejects a computation: the message that all parties see, and the detail in the duchy's log.
 * Returns `accepted` if the duchy accepts the computation.
 */
export async function whyNot(duchy: Duchy, view: Computation): Promise<string> {
  const error = await accept(duchy, view).then(
    () => 'accepted',
    (error: unknown) => error,
  );
  return error instanceof PermanentError ? `${error.message} ${error.detail ?? ''}` : String(error);
}

export async function startAccepting(): Promise<Accepting> {
  const identity = (party: string) => createIdentity({ party, commonName: party, now: Date.now(), days: 1 });
  const acme = await identity(CONSUMER);
  const stranger = await identity('measurementConsumers/globex');
  const signer = await createSigner(acme.privateKeyPem);
  const says: Accepting['says'] = { revocationState: undefined, vidRanges: VID_RANGES };
  const der = (pem: string) => Buffer.from(pem.replace(/-----.*?-----/g, ''), 'base64');
  const certificates: Record<string, Identity> = {
    [`${CONSUMER}/certificates/c`]: acme,
    [`${CONSUMER}/certificates/foreign`]: stranger,
  };
  const duchy = {
    name: 'duchies/beta',
    noiseMechanisms: ['DISCRETE_GAUSSIAN'],
    trust: createTrustStore([{ party: CONSUMER, pem: acme.root.certificatePem }]),
    client: {
      async getCertificate({ name }: { name: string }) {
        const found = certificates[name];
        if (found === undefined) throw new ExchangeError('CERTIFICATE_NOT_FOUND', name);
        return { x509Der: der(found.certificatePem), revocationState: says.revocationState };
      },
      getPopulation: async () => ({ vidRanges: says.vidRanges }),
    },
  } as unknown as Duchy;
  const hashes = await Promise.all([1n, 2n].map(nonceHash));
  const { publicKeyset } = await createEncryptionKeysets();
  return {
    duchy,
    stranger,
    says,
    spec: {
      measurementPublicKey: {
        typeUrl: TYPE_URLS.EncryptionPublicKey,
        value: packEncryptionPublicKey(publicKeyset),
      },
      nonceHashes: hashes,
      vidSamplingInterval: { start: 0, width: 0.5 },
      measurementType: { case: 'reach', value: { privacyParams: PRIVACY } },
    },
    requisitions: ['streamly', 'chirper'].map((provider, i) => ({
      name: `dataProviders/${provider}/requisitions/r${i}`,
      dataProvider: `dataProviders/${provider}`,
      dataProviderCertificate: `dataProviders/${provider}/certificates/c`,
      requisitionSpecHash: new Uint8Array(32),
      nonceHash: hashes[i]!,
      state: 'UNFULFILLED' as const,
      fulfillingDuchy: i === 0 ? 'duchies/alpha' : 'duchies/beta',
    })),
    signed: (spec, by = signer) =>
      by.sign(toBinary(specs.MeasurementSpecSchema, create(specs.MeasurementSpecSchema, spec))),
  };
}
