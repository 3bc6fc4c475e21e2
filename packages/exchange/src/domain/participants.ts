/** The duchies of a computation, and the computation's state. */
import { hash } from 'node:crypto';
import type { ComputationState, DuchyRole, Timestamp } from '@measurement-exchange/contract';
import type { MeasurementOutline, Outline, ParticipantRecord } from './aggregate.ts';
import type { StoredProtocolConfig } from './protocolConfig.ts';

type Configured = Pick<MeasurementOutline, 'protocolConfig'>;

/**
 * Lists the duchies with their roles: first the workers, in the order of the protocol configuration, then the
 * aggregator.
 */
function rolesOf(config: StoredProtocolConfig): { duchy: string; role: DuchyRole }[] {
  const workers: { duchy: string; role: DuchyRole }[] =
    'workers' in config
      ? config.workers.map((duchy) => ({ duchy, role: 'WORKER' }))
      : [
          { duchy: config.firstWorker, role: 'FIRST_WORKER' },
          { duchy: config.secondWorker, role: 'SECOND_WORKER' },
        ];
  return [...workers, { duchy: config.aggregator, role: 'AGGREGATOR' }];
}

export function createParticipants(
  { protocolConfig: config }: Configured,
  now: Timestamp,
): ParticipantRecord[] {
  if (config === undefined) return [];
  return rolesOf(config).map((participant) => ({
    ...participant,
    state: 'CREATED',
    parameters: undefined,
    version: 1,
    updateTime: now,
  }));
}

/** Chooses a worker by a hash of the requisition ID, so that all workers get about the same number of requisitions. */
export function fulfillingDuchyOf(
  { protocolConfig: config }: Configured,
  requisition: string,
): string | undefined {
  if (config === undefined) return undefined;
  const workers = rolesOf(config).slice(0, -1);
  return workers[hash('sha256', requisition, 'buffer')[0]! % workers.length]!.duchy;
}

/** Returns whether all duchies have set their parameters. Until they have, no requisition can be fulfilled. */
export function areParametersSet({ participants }: Pick<Outline, 'participants'>): boolean {
  return participants.every((p) => p.parameters !== undefined);
}

export function hasConfirmation({ protocol }: Pick<MeasurementOutline, 'protocol'>): boolean {
  return protocol !== 'honestMajorityShareShuffle';
}

export function unconfirmed({ participants }: Pick<Outline, 'participants'>): string[] {
  return participants.filter((p) => p.state === 'PARAMS_SET').map((p) => p.duchy);
}

export function computationName(duchy: string, id: string): string {
  return `${duchy}/computations/${id}`;
}

/** Returns the sum of the versions of all records of the computation. The sum grows with every change. */
export function computationVersion({ measurement, requisitions, participants }: Outline): number {
  return [measurement, ...requisitions, ...participants].reduce((sum, { version }) => sum + version, 0);
}

export function computationState(aggregate: Outline): ComputationState {
  const { state } = aggregate.measurement;
  switch (state) {
    case 'AWAITING_REQUISITION_FULFILLMENT':
      return areParametersSet(aggregate) ? 'PENDING_FULFILLMENT' : 'PENDING_PARAMS';
    case 'COMPUTING':
      return unconfirmed(aggregate).length > 0 ? 'PENDING_CONFIRMATION' : 'COMPUTING';
    default:
      return state;
  }
}
