/**
 * Checks a computation before this duchy joins it. The duchy accepts a value from the exchange only if the consumer
 * signed it, or if a wrong value would do no harm. If a check fails permanently, the computation fails.
 */
import { sameHashes, verifySignature } from '@measurement-exchange/consent';
import {
  type Computation,
  type DuchyRole,
  decodeMeasurementSpec,
  equalBytes,
  isName,
  type MpcNoiseMechanism,
  measurementSpecViolations,
  type PlainSpec,
  populationSize,
} from '@measurement-exchange/contract';
import { type MpcProtocol, protocolMath } from '@measurement-exchange/mpc/protocols';
import type { CommonPopulation, Roles } from '@measurement-exchange/mpc/protocols/protocol';
import { populationFingerprint } from '@measurement-exchange/mpc/shares';
import { requireConsent, trustedCertificate } from './certificates.ts';
import type { Duchy } from './context.ts';
import { PermanentError } from './errors.ts';
import { configOf, planOf, protocolOf } from './plan.ts';

export interface Accepted {
  role: DuchyRole;
  protocol: MpcProtocol;
  /** The serialized MeasurementSpec that the consumer signed. */
  spec: Uint8Array;
  registerCount: number;
}

export async function accept(duchy: Duchy, view: Computation): Promise<Accepted> {
  const protocol = protocolOf(view);
  const roles = requireConfig(protocol, view);
  const role = requireRoles(duchy, view, roles);
  requireRequisitions(view, roles);
  const spec = await requireSigned(duchy, view, protocol);
  requireNonces(view, spec);
  requireNoise(duchy, configOf(protocol, view).noiseMechanism);
  const registerCount = await requireRegisters(duchy, view, protocol, spec);
  const { message } = view.measurementSpec;
  // Call `planOf` for its checks: it throws if the parameters are invalid for the protocol, or need too much noise.
  planOf(protocol, { spec: message, view, registerCount });
  return { role, protocol, spec: message, registerCount };
}

function requireConfig(protocol: MpcProtocol, view: Computation): Roles {
  const { rolesOf, violationsOf } = protocolMath(protocol);
  const config = configOf(protocol, view);
  const [violation] = violationsOf(config);
  if (violation === undefined) return rolesOf(config);
  const field = `protocolConfig.${protocol}.${violation.field}`;
  throw new PermanentError('PROTOCOL_INVALID', { field }, { detail: violation.description });
}

/**
 * Checks that the participants have exactly the roles that the protocol config gives them. Returns this duchy's role.
 */
function requireRoles({ name }: Duchy, view: Computation, roles: Roles): DuchyRole {
  const byDuchy = new Map(roles);
  const participants = Object.entries(view.participants);
  const agree =
    byDuchy.size === roles.length &&
    participants.length === roles.length &&
    participants.every(([duchy, { role }]) => byDuchy.get(duchy) === role);
  const own = byDuchy.get(name);
  if (!agree || own === undefined || own !== view.role) {
    throw new PermanentError('PARTICIPANTS_INVALID');
  }
  return own;
}

/**
 * Checks that the computation has requisitions, and that their names are valid. Checks that each requisition has its
 * own ID and its own provider, and that each provider uploads to a worker.
 */
function requireRequisitions({ requisitions }: Computation, roles: Roles): void {
  const workers = roles.filter(([, role]) => role !== 'AGGREGATOR').map(([duchy]) => duchy);
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
  if (!sane) throw new PermanentError('REQUISITIONS_INVALID');
}

async function requireSigned(duchy: Duchy, view: Computation, protocol: MpcProtocol): Promise<PlainSpec> {
  const { measurementConsumer, measurementConsumerCertificate, measurementSpec } = view;
  const certificate = await trustedCertificate(duchy, measurementConsumer, measurementConsumerCertificate);
  await requireConsent(
    'SIGNATURE_INVALID',
    { field: 'measurementSpec' },
    verifySignature(measurementSpec, certificate),
  );
  const decoded = decodeMeasurementSpec(measurementSpec.message);
  if ('error' in decoded) throw new PermanentError('SPEC_MALFORMED', { field: 'measurementSpec' });
  const [violation] = measurementSpecViolations(decoded.spec, protocol);
  if (violation) {
    const { field, description: detail } = violation;
    throw new PermanentError('SPEC_INVALID', { field: `measurementSpec.${field}` }, { detail });
  }
  return decoded.spec;
}

/**
 * Checks that the signed spec has exactly the nonce hashes of the requisitions, so that the exchange cannot add or
 * remove a provider.
 */
function requireNonces({ requisitions }: Computation, { nonceHashes }: PlainSpec): void {
  const asked = requisitions.map(({ nonceHash }) => nonceHash);
  if (!sameHashes(nonceHashes, asked)) throw new PermanentError('NONCES_NOT_SIGNED');
}

function requireNoise(duchy: Duchy, noiseMechanism: MpcNoiseMechanism): void {
  if (!duchy.noiseMechanisms.includes(noiseMechanism)) {
    throw new PermanentError('NOISE_NOT_ACCEPTED', { field: 'noiseMechanism' }, { detail: noiseMechanism });
  }
}

async function requireRegisters(duchy: Duchy, view: Computation, protocol: MpcProtocol, spec: PlainSpec) {
  const { populationOf, registerCountOf } = protocolMath(protocol);
  const config = configOf(protocol, view);
  const population = populationOf(config);
  const size = population === undefined ? 0 : await requirePopulation(duchy, population);
  return registerCountOf(config, spec.vidSamplingInterval ?? { start: 0, width: 1 }, size);
}

/**
 * Returns the population's size. Throws if its VID (virtual person ID) ranges do not match the fingerprint in the
 * protocol config. Providers check the same fingerprint, so all parties use the same ranges.
 */
async function requirePopulation({ client }: Duchy, population: CommonPopulation): Promise<number> {
  const { vidRanges } = await client.getPopulation({ name: population.name });
  if (!equalBytes(populationFingerprint(vidRanges), population.fingerprint)) {
    throw new PermanentError('POPULATION_MISMATCH', { field: 'populationFingerprint' });
  }
  return populationSize(vidRanges);
}
