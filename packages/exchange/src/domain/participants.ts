/** Which duchies take part in the computation of a measurement, and how far it has come. */
import { hash } from 'node:crypto';
import type {
  ComputationState,
  DuchyRole,
  ShareShuffleConfig,
  Timestamp,
} from '@measurement-exchange/contract';
import type { Aggregate, MeasurementRecord, ParticipantRecord } from './aggregate.ts';

type Configured = Pick<MeasurementRecord, 'protocolConfig'>;

const MEMBERS = {
  FIRST_WORKER: 'firstWorker',
  SECOND_WORKER: 'secondWorker',
  AGGREGATOR: 'aggregator',
} as const satisfies Partial<Record<DuchyRole, keyof ShareShuffleConfig>>;
const ROLES = Object.keys(MEMBERS) as (keyof typeof MEMBERS)[];

/** One for each role of the protocol; none for a direct measurement. */
export function createParticipants(
  { protocolConfig: config }: Configured,
  now: Timestamp,
): ParticipantRecord[] {
  if (config === undefined) return [];
  return ROLES.map((role) => ({
    duchy: config[MEMBERS[role]],
    role,
    state: 'CREATED',
    parameters: undefined,
    version: 1,
    updateTime: now,
  }));
}

/** Takes the data of about half of the requisitions each; from the ID, so that it never changes. */
export function fulfillingDuchyOf(
  { protocolConfig: config }: Configured,
  requisition: string,
): string | undefined {
  if (config === undefined) return undefined;
  const isFirst = hash('sha256', requisition, 'buffer')[0]! % 2 === 0;
  return isFirst ? config.firstWorker : config.secondWorker;
}

/** Whether every participant has set its parameters, so that requisitions can be fulfilled. */
export function areParametersSet({ participants }: Pick<Aggregate, 'participants'>): boolean {
  return participants.every((p) => p.parameters !== undefined);
}

/** What the duchies see of the state of the measurement. */
export function computationState(aggregate: Aggregate): ComputationState {
  const { state } = aggregate.measurement;
  if (state !== 'AWAITING_REQUISITION_FULFILLMENT') return state;
  return areParametersSet(aggregate) ? 'PENDING_FULFILLMENT' : 'PENDING_PARAMS';
}
