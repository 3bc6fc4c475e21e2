/** Rows and text for a duchy's computations. */
import type {
  Computation,
  ComputationState,
  DuchyRole,
  Explanation,
  Participant,
} from '@measurement-exchange/contract';
import { inWords, listed, type NameOf } from '../../parts/names.ts';
import { specWords } from '../../parts/specWords.ts';

/** A row in a list of computations. It has only a few of a computation's fields, because a list may be long. */
export interface ComputationRow {
  name: string;
  consumer: string;
  what: string;
  role: DuchyRole;
  state: ComputationState;
  waitsFor: string[];
  updateTime: string;
}

export function rowOf(computation: Computation): ComputationRow {
  const { name, measurementConsumer, measurementSpec, role, state, updateTime = '' } = computation;
  return {
    name: name!,
    consumer: measurementConsumer,
    what: specWords(measurementSpec.message)!.what,
    role,
    state,
    waitsFor: waitsFor(computation),
    updateTime,
  };
}

export function waitsFor({ state, participants, requisitions }: Computation): string[] {
  const duchies = Object.entries(participants);
  switch (state) {
    case 'PENDING_PARAMS':
      return duchies.flatMap(([duchy, each]) => (each.state === 'CREATED' ? duchy : []));
    case 'PENDING_FULFILLMENT':
      return requisitions.flatMap((each) => (each.state === 'UNFULFILLED' ? each.dataProvider : []));
    case 'PENDING_CONFIRMATION':
      return duchies.flatMap(([duchy, each]) => (each.state === 'PARAMS_SET' ? duchy : []));
    case 'COMPUTING':
      return duchies.flatMap(([duchy, each]) => (each.role === 'AGGREGATOR' ? duchy : []));
    default:
      return [];
  }
}

export const ROLES: Record<DuchyRole, string> = {
  FIRST_WORKER: 'First worker',
  SECOND_WORKER: 'Second worker',
  WORKER: 'Worker',
  AGGREGATOR: 'Aggregator',
};

export const PARTICIPANTS: Record<Participant['state'], string> = {
  CREATED: 'makes its keys',
  PARAMS_SET: 'has published its keys',
  READY: 'is ready',
  FAILED: 'gave up',
};

/** Returns the page's first sentence: what the computation waits for, or how it ended. */
export function computationTitle(
  { waitingFor, ending, summary }: Explanation,
  { state }: Computation,
  nameOf: NameOf,
): string {
  if (ending !== undefined) return ENDINGS[ending.code] ?? summary;
  const parties = [...new Set(waitingFor.map(({ party }) => party))].map(nameOf);
  const who = listed(parties.slice(0, 3)).replaceAll('You', 'you');
  switch (state) {
    case 'PENDING_PARAMS':
      return `It waits for the keys of ${who}`;
    case 'PENDING_FULFILLMENT':
      return `It waits for the data of ${who}`;
    case 'PENDING_CONFIRMATION':
      return `It waits until ${who} confirmed that all data is there`;
    default:
      return waitingFor[0]?.code === 'STAGE_FAILING'
        ? `A stage of ${who} fails again and again`
        : `It waits for ${who} to compute`;
  }
}

const OWN_TURN = 'Your duchy does its part by itself while it runs. If it takes long, look into its log.';

/**
 * Returns advice if the computation waits for the duchy `principal`. Otherwise, returns undefined, and the page shows
 * the exchange's advice.
 */
export function remedyFor(
  { waitingFor }: Explanation,
  principal: string,
  nameOf: NameOf,
): string | undefined {
  if (waitingFor.every(({ party }) => party !== principal)) return undefined;
  const [first] = waitingFor;
  return first!.party === principal ? OWN_TURN : `${inWords(first!.remedy, nameOf)} ${OWN_TURN}`;
}

const ENDINGS: Partial<Record<NonNullable<Explanation['ending']>['code'], string>> = {
  SUCCEEDED: 'The advertiser has the result',
  REFUSED: 'A publisher refused, so nothing is left to compute',
  CANCELLED: 'The advertiser canceled the measurement',
  DUCHY_GAVE_UP: 'A duchy gave up',
  REMOVED: 'It has ended, and the exchange has removed its content',
};
