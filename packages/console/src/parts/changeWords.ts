/** Describes the entries of a change log in words. */
import type { Change } from '@measurement-exchange/contract';
import type { IconName, Tone } from './Icon.tsx';

export interface ChangeWords {
  what: string;
  happened: string;
  icon: IconName;
  tone?: Tone | 'run';
}

type Said = Omit<ChangeWords, 'what'>;

const CREATED: Said = { happened: 'is new', icon: 'plus' };
const CHANGED: Said = { happened: 'was changed', icon: 'changes' };
const DELETED: Said = { happened: 'was deleted', icon: 'minus' };

const STATES: Partial<Record<Change['kind'], Record<string, Said>>> = {
  MEASUREMENT: {
    AWAITING_REQUISITION_FULFILLMENT: { happened: 'waits for publishers', icon: 'clock' },
    COMPUTING: { happened: 'is being computed', icon: 'run', tone: 'run' },
    SUCCEEDED: { happened: 'is complete', icon: 'check', tone: 'ok' },
    FAILED: { happened: 'failed', icon: 'x', tone: 'bad' },
    CANCELLED: { happened: 'was canceled', icon: 'minus' },
  },
  REQUISITION: {
    UNFULFILLED: { happened: 'waits for an answer', icon: 'clock' },
    FULFILLED: { happened: 'was answered', icon: 'check', tone: 'ok' },
    REFUSED: { happened: 'was refused', icon: 'x', tone: 'bad' },
    WITHDRAWN: { happened: 'was withdrawn', icon: 'minus' },
  },
  COMPUTATION: {
    PENDING_PARAMS: { happened: 'waits for keys of duchies', icon: 'clock' },
    PENDING_FULFILLMENT: { happened: 'waits for publishers', icon: 'clock' },
    PENDING_CONFIRMATION: { happened: 'waits for confirmations', icon: 'clock' },
    COMPUTING: { happened: 'is being computed', icon: 'run', tone: 'run' },
    SUCCEEDED: { happened: 'is complete', icon: 'check', tone: 'ok' },
    FAILED: { happened: 'failed', icon: 'x', tone: 'bad' },
    CANCELLED: { happened: 'was canceled', icon: 'minus' },
  },
  REPORT: {
    PLANNED: { happened: 'is planned', icon: 'clock' },
    RUNNING: { happened: 'waits for measurements', icon: 'run', tone: 'run' },
    COMPLETE: { happened: 'is complete', icon: 'check', tone: 'ok' },
    INCOMPLETE: { happened: 'lacks a measurement', icon: 'warn', tone: 'warn' },
    DELETED,
  },
  EVENT_GROUP: { ACTIVE: CHANGED, DELETED },
  DESCRIPTOR: { DELETED },
  CERTIFICATE: {
    HOLD: { happened: 'was put on hold', icon: 'warn', tone: 'warn' },
    REVOKED: { happened: 'was revoked', icon: 'x', tone: 'bad' },
  },
  PARTY: {
    SUSPENDED: { happened: 'was suspended by the operator', icon: 'warn', tone: 'bad' },
    ACTIVE: CHANGED,
  },
};

export const KIND_WORDS: Record<Change['kind'], string> = {
  MEASUREMENT: 'Measurement',
  REQUISITION: 'Request',
  COMPUTATION: 'Computation',
  REPORT: 'Report',
  EVENT_GROUP: 'Event group',
  DESCRIPTOR: 'Schema',
  CERTIFICATE: 'Certificate',
  PARTY: 'Registration',
};

/**
 * The kinds whose first state in STATES is the state of a newly created resource. The page shows a resource of these
 * kinds as new if the resource has version 1 and is in that first state.
 */
const SAYS_STATE: readonly Change['kind'][] = ['MEASUREMENT', 'REQUISITION', 'COMPUTATION', 'REPORT'];

export function changeWords({
  kind,
  state = '',
  version,
}: Pick<Change, 'kind' | 'state' | 'version'>): ChangeWords {
  const what = KIND_WORDS[kind] ?? kind;
  const said = STATES[kind]?.[state];
  if (version === 1 && (said === undefined || said === CHANGED || isFirstState(kind, state)))
    return { what, ...CREATED };
  return { what, ...(said ?? CHANGED) };
}

function isFirstState(kind: Change['kind'], state: string): boolean {
  return SAYS_STATE.includes(kind) && Object.keys(STATES[kind]!)[0] === state;
}
