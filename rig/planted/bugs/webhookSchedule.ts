/** Planted bugs in webhooks: their timeouts, their frequency, their limits, and their records. */
import type { PlantedBug } from '../plant.ts';
import { inExchange, test } from './edits.ts';

const inDeliverer = (find: string, replace: string) => inExchange('webhooks/deliverer.ts', find, replace);
const inRound = (find: string, replace: string) => inExchange('webhooks/round.ts', find, replace);
const inDeliveries = (find: string, replace: string) =>
  inExchange('database/webhookDeliveries.ts', find, replace);
const scheduleTest = (name: string) => test('exchange/test/webhooks/schedule.test.ts', name);
const domainTest = (name: string) => test('exchange/src/domain/webhook.test.ts', name);

export const WEBHOOK_SCHEDULE_BUGS: PlantedBug[] = [
  {
    name: 'webhooks-of-one-party-take-all-rounds',
    edits: [inDeliverer('const MAX_WORKING_OF_PARTY = 4;', 'const MAX_WORKING_OF_PARTY = 400;')],
    foundBy: scheduleTest('a run serves up to 4 webhooks'),
  },
  {
    name: 'webhook-claims-end-with-the-first-batch',
    edits: [inDeliverer('more = claimed.length === limit;', 'more = false;')],
    foundBy: scheduleTest('a run serves up to 4 webhooks'),
  },
  {
    name: 'webhook-lease-in-the-wrong-unit',
    edits: [
      inDeliverer(
        'const LEASE_MS = ROUND_MS + SEND_MS + 15_000;',
        'const LEASE_MS = (ROUND_MS + SEND_MS + 15_000) * 1_000;',
      ),
    ],
    foundBy: scheduleTest('a run serves up to 4 webhooks'),
  },
  {
    name: 'webhook-round-without-an-end',
    edits: [inRound('performance.now() > until ||', '')],
    foundBy: scheduleTest('a round that takes too long'),
  },
  {
    name: 'webhook-dead-endpoint-gets-everything',
    edits: [inRound("(settled.length > 0 && settled.every(({ state }) => state !== 'DELIVERED'))", 'false')],
    foundBy: scheduleTest('a failing endpoint gets 8 messages'),
  },
  {
    name: 'webhook-delay-does-not-grow',
    edits: [
      inRound(
        'afterFailures(delivery.attempts + 1, time, { retryAfter })',
        'afterFailures(1, time, { retryAfter })',
      ),
    ],
    foundBy: scheduleTest('a failing endpoint gets 8 messages'),
  },
  {
    name: 'webhook-rest-does-not-grow',
    edits: [inRound('afterFailures(end.failures, now, ...settled)', 'afterFailures(1, now, ...settled)')],
    foundBy: scheduleTest('a failing endpoint gets 8 messages'),
  },
  {
    name: 'webhook-rest-ignores-retry-after',
    edits: [inRound('afterFailures(end.failures, now, ...settled)', 'afterFailures(end.failures, now)')],
    foundBy: scheduleTest('a failing endpoint gets 8 messages'),
  },
  {
    name: 'webhook-retries-all-at-once',
    edits: [inRound('retrySeconds(failures, random())', 'retrySeconds(failures, 0.5)')],
    foundBy: scheduleTest('a failing endpoint gets 8 messages'),
  },
  {
    name: 'webhook-fails-since-the-last-attempt',
    edits: [inDeliveries('ELSE coalesce(d.first_failure_time, o.time) END', 'ELSE o.time END')],
    foundBy: scheduleTest('a failing endpoint gets 8 messages'),
  },
  {
    name: 'webhook-resumed-with-its-failures',
    edits: [
      inExchange(
        'database/webhooks.ts',
        'failures = 0, next_attempt_time = $2, lease_owner = NULL, lease_expiry = NULL WHERE id = $1`',
        'next_attempt_time = $2, lease_owner = NULL, lease_expiry = NULL WHERE id = $1`',
      ),
    ],
    foundBy: scheduleTest('a failing endpoint gets 8 messages'),
  },
  {
    name: 'webhook-waits-for-other-resources',
    edits: [
      inDeliveries(
        "AND d.state = 'PENDING' AND d.resource = c.resource), $8)",
        "AND d.state = 'PENDING'), $8)",
      ),
    ],
    foundBy: scheduleTest('wait for its failed delivery'),
  },
  {
    name: 'webhook-failure-of-a-round-not-told',
    edits: [inDeliverer('if (failure !== undefined) throw failure;', '')],
    foundBy: scheduleTest('throws the error of a failed round'),
  },
  {
    name: 'webhook-redirect-is-a-success',
    edits: [inRound('status >= 200 && status < 300', 'status >= 200 && status < 400')],
    foundBy: scheduleTest('with status'),
  },
  {
    name: 'webhook-lag-since-the-delivery-was-made',
    edits: [inRound('Date.parse(delivery.event.time)', 'Date.parse(delivery.createTime)')],
    foundBy: scheduleTest('with status'),
  },
  {
    name: 'webhook-http-in-production',
    edits: [
      inExchange(
        'webhooks/send.ts',
        'urlProblem(message.url, destinations.isDevelopment)',
        'urlProblem(message.url, true)',
      ),
    ],
    foundBy: scheduleTest('nothing is sent over http'),
  },
  {
    name: 'webhook-filter-takes-the-first-kind',
    edits: [inRound('webhook.kinds.includes(change.kind)', 'webhook.kinds[0] === change.kind')],
    foundBy: scheduleTest('a filter of two kinds'),
  },
  {
    name: 'webhook-of-a-test-paused-by-410',
    edits: [inExchange('domain/webhook.ts', "state === 'PENDING' && status === 410", 'status === 410')],
    foundBy: domainTest('end after three days'),
  },
  {
    name: 'webhook-reason-of-the-pause-forgotten',
    edits: [inExchange('domain/webhook.ts', 'before.pauseReason ?? OWNER_PAUSED', 'OWNER_PAUSED')],
    foundBy: domainTest('keeps the pause reason'),
  },
  {
    name: 'webhook-old-secret-for-an-hour',
    edits: [inExchange('domain/webhook.ts', 'OLD_SECRET_HOURS = 24', 'OLD_SECRET_HOURS = 1')],
    foundBy: test('exchange/test/webhooks/webhooks.test.ts', 'are signed with both secrets'),
  },
];
