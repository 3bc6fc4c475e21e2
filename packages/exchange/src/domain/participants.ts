/** The duchies that take part in the computation of a measurement, and the state of the computation. */
import { hash } from 'node:crypto';
import type { ComputationState, DuchyRole, Timestamp } from '@measurement-exchange/contract';
import type { MeasurementOutline, Outline, ParticipantRecord } from './aggregate.ts';
import type { StoredProtocolConfig } from './protocolConfig.ts';

type Configured = Pick<MeasurementOutline, 'protocolConfig'>;

/** The workers first, in the order of the protocol. */
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

/** Empty for a direct measurement. */
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

/** A worker, each of which takes the data of about as many requisitions; from the ID, so that it never changes. */
export function fulfillingDuchyOf(
  { protocolConfig: config }: Configured,
  requisition: string,
): string | undefined {
  if (config === undefined) return undefined;
  const workers = rolesOf(config).slice(0, -1);
  return workers[hash('sha256', requisition, 'buffer')[0]! % workers.length]!.duchy;
}

/** Whether every participant has set its parameters, so that requisitions can be fulfilled. */
export function areParametersSet({ participants }: Pick<Outline, 'participants'>): boolean {
  return participants.every((p) => p.parameters !== undefined);
}

/** Whether duchies confirm that they have all they need before they compute. */
export function hasConfirmation({ protocol }: Pick<MeasurementOutline, 'protocol'>): boolean {
  return protocol !== 'honestMajorityShareShuffle';
}

/** The duchies that have not confirmed yet. */
export function unconfirmed({ participants }: Pick<Outline, 'participants'>): string[] {
  return participants.filter((p) => p.state === 'PARAMS_SET').map((p) => p.duchy);
}

/** The state of the computation, as the duchies see it. */
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
