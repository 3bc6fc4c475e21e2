/**
 * What a duchy checks before it takes part. Of what the exchange says it believes only what the consumer signed, and
 * what can do no harm: a check that fails for good ends the computation.
 */
import { verifySignature } from '@measurement-exchange/consent';
import {
  type Computation,
  type DuchyRole,
  decodeMeasurementSpec,
  equalBytes,
  isName,
  measurementSpecViolations,
  type PlainSpec,
  populationSize,
  type ShareShuffleConfig,
  sampledRegisters,
  toBase64,
} from '@measurement-exchange/contract';
import { populationFingerprint } from '@measurement-exchange/sdk/shareShuffle';
import { requireConsent, trustedCertificate } from '../certificates.ts';
import type { Duchy } from '../context.ts';
import { PermanentError } from '../errors.ts';
import { configOf, planOf } from '../stages/plan.ts';

export interface Accepted {
  role: DuchyRole;
  protocol: 'honestMajorityShareShuffle';
  /** The bytes that the consumer signed. */
  spec: Uint8Array;
  registerCount: number;
}

export async function accept(duchy: Duchy, view: Computation): Promise<Accepted> {
  const config = configOf(view);
  const role = requireRoles(duchy, view, config);
  requireRequisitions(view, config);
  const spec = await requireSigned(duchy, view);
  requireNonces(view, spec);
  const { noiseMechanism } = config;
  if (!duchy.noiseMechanisms.includes(noiseMechanism)) {
    throw new PermanentError(`This duchy takes part in no computation with ${noiseMechanism} as its noise.`);
  }
  const size = await requirePopulation(duchy, config);
  const registerCount = sampledRegisters(size, spec.vidSamplingInterval ?? { start: 0, width: 1 }).count;
  const { message } = view.measurementSpec;
  // Throws where the parameters do not fit the ring, or ask for more noise than fits.
  planOf({ spec: message, view, registerCount });
  return { role, protocol: 'honestMajorityShareShuffle', spec: message, registerCount };
}

/** Three duchies with a role each, the same in both places, and this one is one of them. */
function requireRoles({ name }: Duchy, view: Computation, config: ShareShuffleConfig): DuchyRole {
  const roles = {
    [config.firstWorker]: 'FIRST_WORKER',
    [config.secondWorker]: 'SECOND_WORKER',
    [config.aggregator]: 'AGGREGATOR',
  } as const;
  const participants = Object.entries(view.participants);
  const agree =
    Object.keys(roles).length === 3 &&
    participants.length === 3 &&
    participants.every(([duchy, { role }]) => roles[duchy] === role);
  const own = roles[name];
  if (!agree || own === undefined || own !== view.role) {
    throw new PermanentError(
      'The participants are not three duchies with a role each, as protocolConfig says.',
    );
  }
  return own;
}

/** Each of another provider, and each taken by one of the workers. */
function requireRequisitions({ requisitions }: Computation, config: ShareShuffleConfig): void {
  const workers = [config.firstWorker, config.secondWorker];
  const ids = new Set(requisitions.map(({ name }) => name.split('/').at(-1)));
  const providers = new Set(requisitions.map(({ dataProvider }) => dataProvider));
  const sane =
    requisitions.length > 0 &&
    ids.size === requisitions.length &&
    providers.size === requisitions.length &&
    requisitions.every(
      (r) =>
        isName('requisition', r.name) &&
        r.name.startsWith(`${r.dataProvider}/`) &&
        workers.includes(r.fulfillingDuchy),
    );
  if (!sane) throw new PermanentError('The requisitions are not one of each provider, each for one worker.');
}

/** The spec, signed by a certificate of the consumer that this duchy trusts. */
async function requireSigned(duchy: Duchy, view: Computation): Promise<PlainSpec> {
  const { measurementConsumer, measurementConsumerCertificate, measurementSpec } = view;
  const certificate = await trustedCertificate(duchy, measurementConsumer, measurementConsumerCertificate);
  await requireConsent('measurementSpec', verifySignature(measurementSpec, certificate));
  const decoded = decodeMeasurementSpec(measurementSpec.message);
  if ('error' in decoded) throw new PermanentError(`The MeasurementSpec cannot be read: ${decoded.error}.`);
  const [violation] = measurementSpecViolations(decoded.spec, 'honestMajorityShareShuffle');
  if (violation) throw new PermanentError(`measurementSpec.${violation.field} ${violation.description}.`);
  return decoded.spec;
}

/** One nonce per requisition, so that no provider can be left out or added. */
function requireNonces({ requisitions }: Computation, { nonceHashes }: PlainSpec): void {
  const signed = nonceHashes.map(toBase64).sort();
  const asked = requisitions.map(({ nonceHash }) => toBase64(nonceHash)).sort();
  if (signed.length === asked.length && signed.every((hash, i) => hash === asked[i])) return;
  throw new PermanentError('The requisitions are not those whose nonces the consumer signed.');
}

/** The size of the population, whose ranges have the fingerprint that providers compare. */
async function requirePopulation({ client }: Duchy, config: ShareShuffleConfig): Promise<number> {
  const { vidRanges } = await client.getPopulation({ name: config.population });
  if (!equalBytes(populationFingerprint(vidRanges), config.populationFingerprint)) {
    throw new PermanentError(`${config.population} does not have the fingerprint that protocolConfig says.`);
  }
  return populationSize(vidRanges);
}
