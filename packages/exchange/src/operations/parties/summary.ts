import {
  type Attention,
  isTerminal,
  type MeasurementState,
  type WorkSummary,
} from '@measurement-exchange/contract';
import { getPreferredCertificate } from '../../database/certificates.ts';
import {
  countEventGroups,
  countStates,
  MAX_OPEN,
  notableWork,
  type StateRow,
} from '../../database/summaries.ts';
import { webhookHealth } from '../../database/webhooks.ts';
import { parsePrincipal } from '../../domain/access.ts';
import { certificateAttention, webhookAttention, workAttention } from '../../domain/attention.ts';
import { certificateName } from '../../domain/certificate.ts';
import type { Facts, Viewer } from '../../domain/explain/facts.ts';
import { hoursBefore } from '../../domain/time.ts';
import type { Handler } from '../context.ts';
import { countOf, countWebhooks } from '../counts.ts';
import { factsOfAll } from '../explain.ts';

const RECENT_DAYS = 7;
const MAX_SHOWN = 10;

const MEMBERS = {
  measurementConsumer: 'measurements',
  dataProvider: 'requisitions',
  duchy: 'computations',
} as const;

export const getPartySummary: Handler<'getPartySummary'> = async (exchange, _call, { path: party }) => {
  const { db } = exchange;
  const viewer = parsePrincipal(party)!.kind as Viewer;
  const now = exchange.clock();
  const recentSince = hoursBefore(now, RECENT_DAYS * 24);
  const times = { recentSince, dayAgo: hoursBefore(now, 24), hourAgo: hoursBefore(now, 1) };
  const [states, notable, eventGroups, certificate, webhooks] = await Promise.all([
    countStates(db, viewer, party, times),
    notableWork(db, viewer, party, times),
    viewer === 'duchy' ? undefined : countEventGroups[viewer](db, party),
    getPreferredCertificate(db, party, now),
    webhookHealth(db, [party]),
  ]);
  const work = attentionOf(await factsOfAll(exchange, viewer, notable), party);
  const others = [certificateAttention(party, certificate, now), ...webhooks.map(webhookAttention)];
  return {
    time: now,
    recentSince,
    [MEMBERS[viewer]]: workSummary(states),
    eventGroups: eventGroups === undefined ? undefined : countOf(eventGroups),
    certificate:
      certificate === undefined || certificate.revocationState !== undefined
        ? undefined
        : { name: certificateName(party, certificate.id), notAfter: certificate.notAfter },
    webhooks: countWebhooks(webhooks),
    attention: [...work.shown, ...others.filter((one) => one !== undefined)],
    moreAttention: work.isCut || undefined,
  };
};

/**
 * Returns the work that needs the party's attention: first the failures, sorted from the latest to the oldest, then the
 * waiting work, sorted from the oldest to the latest.
 */
function attentionOf(facts: Facts[], party: string): { shown: Attention[]; isCut: boolean } {
  const isOpen = ({ viewer, aggregate: { measurement, requisitions } }: Facts) =>
    !isTerminal(viewer === 'dataProvider' ? requisitions[0]!.state : measurement.state);
  const of = (some: Facts[]) => some.map((f) => workAttention(f, party)).filter((one) => one !== undefined);
  const open = facts.filter(isOpen);
  const failures = of(facts.filter((f) => !isOpen(f))).reverse();
  const waits = of(open.slice(0, MAX_OPEN));
  return {
    shown: [...failures.slice(0, MAX_SHOWN), ...waits.slice(0, MAX_SHOWN)],
    isCut: open.length > MAX_OPEN || failures.length > MAX_SHOWN || waits.length > MAX_SHOWN,
  };
}

function workSummary(rows: StateRow[]): WorkSummary {
  const ended = rows.filter(({ state }) => isTerminal(state as MeasurementState));
  const ofOpen = (age: 'underHour' | 'underDay' | 'older') =>
    countOf(rows.reduce((sum, row) => sum + (row[age] ?? 0), 0));
  return {
    states: rows.map(({ state, all, underHour, underDay, older }) => ({
      state,
      ...countOf(all ?? underHour! + underDay! + older!),
    })),
    openByAge: { underHour: ofOpen('underHour'), underDay: ofOpen('underDay'), older: ofOpen('older') },
    recentlyEnded: ended.map(({ state, recent }) => ({ state, ...countOf(recent!) })),
  };
}
