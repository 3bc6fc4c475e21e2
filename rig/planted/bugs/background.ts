/**
 * Planted bugs in background work and reporting: the feed, streams, jobs, metrics, explanations, settings, exit codes.
 */
import type { PlantedBug } from '../plant.ts';
import { inExchange, inServer, test } from './edits.ts';

const wakingTest = (name: string) => test('exchange/test/changes/waiting.test.ts', name);
const feedTest = (name: string) => test('exchange/src/feed/feed.test.ts', name);
const listTest = (name: string) => test('exchange/src/operations/changes/list.test.ts', name);
const jobsTest = (name: string) => test('exchange/src/jobs/settings.test.ts', name);
const metricsTest = (name: string) => test('exchange/src/observability/metrics.test.ts', name);
const explainTest = (name: string) => test('exchange/src/domain/explain/explain.test.ts', name);
const environmentTest = (name: string) => test('exchange/src/config/environment.test.ts', name);
const pipelineTest = (name: string) => test('exchange/src/serving/pipeline.test.ts', name);
const illTest = (name: string) => test('cli/test/illDatabase.test.ts', name);
const developmentTest = (name: string) => test('cli/test/demoDuchies.test.ts', name);
const inCli = (file: string, find: string, replace: string) => ({ file: `cli/src/${file}`, find, replace });

export const BACKGROUND_BUGS: PlantedBug[] = [
  {
    name: 'interrupted-demo-leaves-its-measurements-open',
    edits: [
      inCli(
        'demo/run.ts',
        'for (const name of open) if (await cancel(advertiser, name)) cancelled += 1;',
        '',
      ),
    ],
    foundBy: developmentTest('leaves no open measurement and no event group'),
  },
  {
    name: 'every-start-asks-the-first-questions-again',
    edits: [
      inCli(
        'publishers/firstQuestions.ts',
        'consumer.create({ ...question, requestId })',
        'consumer.create(question)',
      ),
    ],
    foundBy: developmentTest('creates three example measurements'),
  },
  {
    // With this bug, a root stays trusted until the process is restarted, although its party replaced it or an operator
    // removed it.
    name: 'removed-root-stays-trusted',
    edits: [inCli('connection/roots.ts', 'if (found !== version) {', 'if (version === undefined) {')],
    foundBy: test('cli/src/connection/roots.test.ts', 'trusts a root as soon as its file is in the folder'),
  },
  {
    name: 'demo-duchies-end-beside-another-one',
    edits: [inExchange('config/duchies.ts', 'named.some(isDemoDuchy)', 'named.every(isDemoDuchy)')],
    foundBy: test(
      'exchange/test/development/demoDuchies.test.ts',
      'stay if the protocols setting also names another duchy',
    ),
  },
  {
    name: 'check-of-a-duchy-ends-well-whatever-it-finds',
    edits: [inCli('duchy/check/command.ts', "state === 'problem'", 'state === undefined')],
    foundBy: test('cli/test/duchy.test.ts', 'exits with 1 for a problem'),
  },
  {
    name: 'notification-longer-than-postgresql-takes',
    edits: [inExchange('feed/notifier.ts', 'const MAX_PAYLOAD = 7_900;', 'const MAX_PAYLOAD = 79_000;')],
    foundBy: wakingTest('announces the parties of concurrent commits'),
  },
  {
    name: 'notification-of-quick-commits-lost',
    edits: [
      inExchange(
        'feed/notifier.ts',
        'setTimeout(() => this.send(), NOTIFY_EVERY_MS)',
        'setTimeout(() => { this.sending = undefined; }, NOTIFY_EVERY_MS)',
      ),
    ],
    foundBy: wakingTest('announces the parties of concurrent commits'),
  },
  {
    name: 'listening-given-up-at-once',
    edits: [
      inExchange(
        'feed/notifier.ts',
        'this.reconnecting = setTimeout(() => this.start(), randomInt(RECONNECT_MS, 2 * RECONNECT_MS));',
        '',
      ),
    ],
    foundBy: wakingTest('logs why it cannot listen'),
  },
  {
    name: 'feed-poll-ends-with-the-first',
    edits: [inExchange('feed/feed.ts', '} finally { this.isPolling = false; }', '} finally { }')],
    foundBy: feedTest('polls for missed changes every two seconds'),
  },
  {
    name: 'feed-poll-wakes-everybody',
    edits: [
      inExchange(
        'feed/feed.ts',
        "this.bus.emit('changed', await movedOn(this.db, places));",
        "await movedOn(this.db, places); this.bus.emit('changed', undefined);",
      ),
    ],
    foundBy: feedTest('wakes only the parties that have new changes'),
  },
  {
    name: 'feed-tail-ends-with-the-first-follower',
    edits: [
      inExchange(
        'feed/feed.ts',
        'if (tail !== undefined && --tail.followers === 0)',
        'if (tail !== undefined)',
      ),
    ],
    foundBy: feedTest('does not end the waits of the others'),
  },
  {
    name: 'feed-tail-ends-with-a-failed-read',
    edits: [
      inExchange('feed/tail.ts', 'if (!this.isStopped) this.timer = setTimeout(this.wake, RETRY_MS);', ''),
    ],
    foundBy: test('exchange/src/feed/tail.test.ts', 'reads again one second after'),
  },
  {
    name: 'changes-behind-a-short-page-skipped',
    edits: [
      inExchange(
        'operations/changes/list.ts',
        'changes.length < wanted.length ? changes.at(-1)!.at : page.next',
        'page.next',
      ),
    ],
    foundBy: listTest('with a filter continues after'),
  },
  {
    name: 'changes-waited-for-a-second',
    edits: [
      inExchange('operations/changes/list.ts', 'setTimeout(end, seconds * 1000)', 'setTimeout(end, 1000)'),
    ],
    foundBy: listTest('returns empty after exactly waitSeconds'),
  },
  {
    name: 'streams-end-all-at-once',
    edits: [inExchange('serving/streams.ts', '(randomInt(80, 101) / 100) * maxAgeMs', 'maxAgeMs')],
    foundBy: test('exchange/src/http/eventStream.test.ts', 'not all at the same time'),
  },
  {
    name: 'computing-overdue-since-its-creation',
    edits: [
      inExchange(
        'database/computations.ts',
        "overdue('COMPUTING', 'update_time')",
        "overdue('COMPUTING', 'create_time')",
      ),
    ],
    foundBy: test('exchange/test/computations/deadlines.test.ts', 'whose result does not arrive'),
  },
  {
    name: 'confirmation-overdue-since-the-creation',
    edits: [
      inExchange(
        'database/computations.ts',
        "overdue('PENDING_CONFIRMATION', 'update_time')",
        "overdue('PENDING_CONFIRMATION', 'create_time')",
      ),
    ],
    foundBy: test('exchange/test/computations/ringRaces.test.ts', 'that is not confirmed'),
  },
  {
    name: 'data-overdue-since-the-last-data',
    edits: [
      inExchange(
        'database/computations.ts',
        "overdue('PENDING_FULFILLMENT', 'create_time')",
        "overdue('PENDING_FULFILLMENT', 'update_time')",
      ),
    ],
    foundBy: test('exchange/test/computations/deadlines.test.ts', 'whose data does not arrive'),
  },
  {
    name: 'overdue-computations-one-batch',
    edits: [inExchange('jobs/computationDeadlines.ts', 'return ids.length === BATCH;', 'return false;')],
    foundBy: jobsTest('looks for overdue computations of all kinds'),
  },
  {
    name: 'overdue-computations-of-the-last-kind-decide',
    edits: [
      inExchange(
        'jobs/computationDeadlines.ts',
        'more = (await failOverdue(exchange, deadlines, state)) || more;',
        'more = await failOverdue(exchange, deadlines, state);',
      ),
    ],
    foundBy: jobsTest('looks for overdue computations of all kinds'),
  },
  {
    name: 'log-kept-for-the-default-days',
    edits: [
      inExchange(
        'jobs/index.ts',
        'removeOldChanges(exchange, changes.keepDays)',
        'removeOldChanges(exchange, 7)',
      ),
    ],
    foundBy: jobsTest('passes the configured deadlines'),
  },
  {
    name: 'log-removed-one-batch-a-minute',
    edits: [inExchange('jobs/changes.ts', 'more ||= count === BATCH;', '')],
    foundBy: test('exchange/test/changes/retention.test.ts', 'returns true after a full batch'),
  },
  {
    name: 'job-with-more-to-do-waits',
    edits: [inExchange('jobs/index.ts', 'if (!more) await sleep', 'await sleep')],
    foundBy: jobsTest('runs a job again immediately after a full batch'),
  },
  {
    name: 'lag-of-deliveries-that-failed',
    edits: [inExchange('observability/metrics.ts', "if (outcome === 'delivered') this", 'this')],
    foundBy: metricsTest('counts delivery attempts'),
  },
  {
    name: 'idle-connections-counted-as-busy',
    edits: [inServer('metrics.ts', 'pool.totalCount - pool.idleCount', 'pool.totalCount')],
    foundBy: test('server/src/metrics.test.ts', 'shows the connections'),
  },
  {
    name: 'expiring-certificates-of-one-kind',
    edits: [inExchange('observability/gauges.ts', 'counts.get(collection!)', "counts.get('dataProviders')")],
    foundBy: test('exchange/src/observability/gauges.test.ts', 'by kind of party'),
  },
  {
    name: 'horizon-in-milliseconds',
    edits: [inExchange('observability/gauges.ts', '(now - seen.at) / 1000', 'now - seen.at')],
    foundBy: wakingTest('exports as a metric how long'),
  },
  {
    name: 'exported-buckets-cumulative',
    edits: [inServer('openTelemetry/metrics.ts', 'upTo - (i === 0 ? 0 : cumulative[i - 1]!)', 'upTo')],
    foundBy: test('server/src/openTelemetry/metrics.test.ts', 'exports a histogram'),
  },
  {
    name: 'exported-without-labels',
    edits: [inServer('openTelemetry/metrics.ts', '{ ...labels } as Attributes', '{} as Attributes')],
    foundBy: test('server/src/openTelemetry/metrics.test.ts', 'exports a counter'),
  },
  {
    name: 'sealed-for-any-place',
    edits: [
      inServer('secrets.ts', 'nonce).setAAD(Buffer.from(place));', "nonce).setAAD(Buffer.from(''));"),
      inServer(
        'secrets.ts',
        '.setAAD(Buffer.from(place)) .setAuthTag',
        ".setAAD(Buffer.from('')) .setAuthTag",
      ),
    ],
    foundBy: test('server/src/secrets.test.ts', 'does not open in another place'),
  },
  {
    name: 'deadline-explained-from-the-creation',
    edits: [
      inExchange(
        'domain/explain/risks.ts',
        'isFromCreation ? measurement.createTime : participants[0]!.updateTime',
        'measurement.createTime',
      ),
    ],
    foundBy: explainTest('the next deadline'),
  },
  {
    name: 'silent-at-once',
    edits: [inExchange('domain/explain/waits.ts', 'SILENT_AFTER_MS = 10 * 60_000', 'SILENT_AFTER_MS = 0')],
    foundBy: explainTest('is ASKED for the first ten minutes'),
  },
  {
    name: 'resends-any-number-of-deliveries',
    edits: [inExchange('operations/webhooks/redeliver.ts', 'return 1;', 'return 0;')],
    foundBy: test('exchange/test/webhooks/bounds.test.ts', 'a redelivery of a single delivery'),
  },
  {
    name: 'hold-explained-as-nothing',
    edits: [
      inExchange('domain/explain/waits.ts', 'revocationState !== undefined', "revocationState === 'REVOKED'"),
    ],
    foundBy: explainTest('is revoked or on hold'),
  },
  {
    name: 'file-over-environment',
    edits: [
      inExchange(
        'config/config.ts',
        "    ...readConfigFile(nonEmpty(env, 'MEX_CONFIG', problems), problems),\n    ...readEnv(env, problems),",
        "    ...readEnv(env, problems),\n    ...readConfigFile(nonEmpty(env, 'MEX_CONFIG', problems), problems),",
      ),
    ],
    foundBy: environmentTest('the environment'),
  },
  {
    name: 'defaults-over-the-deadlines-that-are-set',
    edits: [
      inExchange(
        'config/file.ts',
        '{ ...DEFAULTS.computations, ...computations }',
        '{ ...computations, ...DEFAULTS.computations }',
      ),
    ],
    foundBy: environmentTest('only the missing parts get default values'),
  },
  {
    name: 'requests-timed-in-milliseconds',
    edits: [
      inExchange(
        'serving/observe.ts',
        'metrics.request(operation, code, ms / 1000)',
        'metrics.request(operation, code, ms)',
      ),
    ],
    foundBy: pipelineTest('logs and counts successful'),
  },
  {
    name: 'failures-logged-as-information',
    edits: [inExchange('serving/observe.ts', "log.error(line, 'request')", "log.info(line, 'request')")],
    foundBy: pipelineTest('logs and counts successful'),
  },
  {
    name: 'retries-not-counted',
    edits: [inServer('database/database.ts', 'this.observer?.retry(name);', '')],
    foundBy: test('server/test/database/transactions.test.ts', 'count its retries'),
  },
  {
    name: 'doctor-ends-well-whatever-it-finds',
    edits: [inCli('exchange/doctor.ts', 'if (isIll(ailments)) process.exitCode = 1;', '')],
    foundBy: illTest('mex doctor exits with 1'),
  },
  {
    name: 'doctor-looks-at-the-first-ailment',
    edits: [
      inCli(
        'terminal/doctorReport.ts',
        "ailments.some(({ severity }) => severity === 'error')",
        "ailments[0]?.severity === 'error'",
      ),
    ],
    foundBy: illTest('isIll returns false for warnings only'),
  },
];
