/**
 * Planted bugs in the bounds on the load that one party can cause for another, in the checks of network addresses, and
 * in a few other rules that protect one party from another.
 */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const DEFERRALS = test('exchange/test/explain/deferring.test.ts', 'at most 10 deferrals');
const TIMELINES = test('exchange/test/measurements/timelines.test.ts', 'the pages of a timeline');

const BOUNDS = (name: string) => test('exchange/test/webhooks/bounds.test.ts', name);
const DESTINATIONS = test('exchange/src/webhooks/destinations.test.ts', 'the deliveries to one address');
const OPEN = (name: string) => test('exchange/test/measurements/open.test.ts', name);

export const BURDEN_BUGS: PlantedBug[] = [
  {
    name: 'every-deferral-is-told',
    edits: [
      inExchange('domain/measurement.ts', 'earlier.logged < MAX_LOGGED_DEFERRALS', 'earlier.logged < 1e6'),
    ],
    foundBy: DEFERRALS,
  },
  {
    name: 'deferrals-at-any-rate',
    edits: [inExchange('domain/measurement.ts', 'if (waitMs <= 0) return;', 'return;')],
    foundBy: DEFERRALS,
  },
  {
    // With this bug, a deferral that replaces another keeps the time of the earlier deferral.
    name: 'deferral-time-not-kept',
    edits: [
      inExchange(
        'database/deferrals.ts',
        'deferral_time = $4',
        'deferral_time = coalesce(deferral_time, $4)',
      ),
    ],
    foundBy: DEFERRALS,
  },
  {
    name: 'timeline-in-one-page',
    edits: [
      inExchange(
        'operations/measurements/timeline.ts',
        'size: limit,',
        'size: Math.max(1000, query.pageSize ?? 0),',
      ),
    ],
    foundBy: TIMELINES,
  },
  {
    name: 'timeline-token-of-any-requisition',
    edits: [inExchange('operations/measurements/timeline.ts', '[operation, name]', "[operation, '']")],
    foundBy: TIMELINES,
  },
  {
    name: 'redelivers-without-bound',
    edits: [inExchange('domain/webhook.ts', 'if (total.count <= MAX_REDELIVERED) return;', 'return;')],
    foundBy: BOUNDS('a redelivery of more than 1,000 changes'),
  },
  {
    // With this bug, the number of redeliveries is limited per request, but not in total.
    name: 'redelivers-any-number-of-times',
    edits: [
      inExchange('database/webhooks.ts', 'ELSE r.count END + excluded.count', 'ELSE 0 END + excluded.count'),
    ],
    foundBy: BOUNDS('1,000 redelivered changes per hour'),
  },
  {
    name: 'address-gets-all-of-a-party',
    edits: [
      inExchange(
        'webhooks/destinations.ts',
        'new RateLimiter(rate(partyPerSecond), clock)',
        'new RateLimiter(rate(1e6), clock)',
      ),
    ],
    foundBy: DESTINATIONS,
  },
  {
    name: 'address-gets-all-of-all-parties',
    edits: [
      inExchange(
        'webhooks/destinations.ts',
        'new RateLimiter(rate(perSecond), clock)',
        'new RateLimiter(rate(1e6), clock)',
      ),
    ],
    foundBy: DESTINATIONS,
  },
  {
    name: 'throttled-delivery-has-failed',
    edits: [
      inExchange('webhooks/round.ts', 'if (outcome.waitMs === undefined) return outcome;', 'return outcome;'),
    ],
    foundBy: BOUNDS('beyond the rate'),
  },
  {
    name: 'any-number-of-tests',
    edits: [inExchange('domain/webhook.ts', 'if (waiting < MAX_TESTS) return;', 'return;')],
    foundBy: BOUNDS('accepts 10 pending tests'),
  },
  {
    name: 'denied-network-by-name',
    edits: [
      inExchange(
        'webhooks/send.ts',
        'if (addresses.some(({ address }) => destinations.isDenied(address)))',
        'if (false)',
      ),
    ],
    foundBy: test('exchange/src/webhooks/send.test.ts', 'that the operator denies'),
  },
  {
    name: 'duchy-at-a-private-address',
    edits: [inExchange('domain/party.ts', 'if (!isPublicHost(host) && ', 'if (false && ')],
    foundBy: test('exchange/src/domain/party.test.ts', 'only if the operator allows it'),
  },
  {
    name: 'text-cut-inside-a-pair',
    edits: [{ file: 'contract/src/values/cut.ts', find: 'isHalved ? max - 1 : max', replace: 'max' }],
    foundBy: test('contract/src/values/cut.test.ts'),
  },
  {
    name: 'last-seen-to-the-millisecond',
    edits: [inExchange('database/lastSeen.ts', 'return halfMinuteOf(stored', 'return String(stored')],
    foundBy: test('exchange/test/explain/lastSeen.test.ts', 'to half a minute'),
  },
  {
    name: 'open-measurements-without-bound',
    edits: [
      inExchange(
        'operations/measurements/create.ts',
        'if (!validateOnly && missing > places.count)',
        'if (false)',
      ),
    ],
    foundBy: OPEN('a consumer at its limit'),
  },
  {
    name: 'open-measurements-counted-once',
    edits: [inExchange('database/openMeasurements.ts', 'left < 1 || age >= COUNT_MS', 'countedAt < 0')],
    foundBy: OPEN('after a hundredth of the limit'),
  },
  {
    name: 'running-creates-overlooked',
    edits: [
      inExchange('database/openMeasurements.ts', 'this.limit - row!.n - running', 'this.limit - row!.n'),
    ],
    foundBy: OPEN('creates that run'),
  },
  {
    name: 'no-repeat-at-the-limit',
    edits: [
      inExchange(
        'operations/measurements/create.ts',
        'return await idempotently(',
        'if (!validateOnly && parts.length > places.count) throw noRoom(consumer, openMeasurements.limit);\n  return await idempotently(',
      ),
    ],
    foundBy: OPEN('a consumer at its limit'),
  },
  {
    name: 'provider-runs-the-aggregator',
    edits: [
      inExchange('domain/protocol.ts', '.filter((name) => operators.includes(name))', '.filter(() => false)'),
    ],
    foundBy: test('exchange/src/domain/liquidLegions.test.ts', 'the operators of duchies'),
  },
  {
    name: 'forbidden-wish-gets-another-protocol',
    edits: [
      inExchange('domain/protocol.ts', 'if (protocol === wish) requireAllowed', 'if (false) requireAllowed'),
    ],
    foundBy: test('exchange/src/domain/liquidLegions.test.ts', 'the operators of duchies'),
  },
];
