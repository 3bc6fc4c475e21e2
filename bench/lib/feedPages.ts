/** Measures whether reading a page of changes costs more when the log is long. */
import { type BenchExchange, startExchange } from './exchange.ts';
import { figure, ratio, show } from './figures.ts';
import type { Bench } from './options.ts';
import type { BenchDatabase } from './postgres.ts';
import { atMost, printTable, progress, type Section } from './report.ts';

const PAGE = 50;
/** Each transaction writes at most this many rows. */
const PORTION = 100_000;
/**
 * The number of parties besides the measured party. The measured party has half of all rows, and the other parties
 * share the rest.
 */
const OTHERS = 1_000;
const WHERE = ['oldest page', 'page in the middle', 'empty page at the end'] as const;

interface Log {
  rows: number;
  database: BenchDatabase;
  exchange: BenchExchange;
  /** The path of the request for each position in the log. */
  paths: Record<(typeof WHERE)[number], string>;
}

export async function feedPages(bench: Bench): Promise<Omit<Section, 'name'>> {
  const logs: Log[] = [];
  try {
    for (const rows of bench.quick ? [1_000, 200_000] : [1_000, 10_000_000])
      logs.push(await write(bench, rows));
    const timings = new Map<string, number[]>();
    const times = (where: string, { rows }: Log) => timings.get(`${where} ${rows}`)!;
    await bench.server.query('CHECKPOINT');
    for (let round = 0; round <= bench.rounds; round++) {
      progress(`feed: pages, round ${round} of ${bench.rounds}`);
      for (const where of WHERE) {
        for (const log of round % 2 === 0 ? logs : logs.toReversed()) {
          const { port, dev } = log.exchange;
          const timing = await bench.generator.call('closed', {
            targets: [{ port, token: dev.dataProviders[0]!.token }],
            connections: 1,
            template: { method: 'GET', path: log.paths[where] },
            items: [[]],
            seconds: bench.quick ? 0.4 : 1.5,
          });
          if (Object.keys(timing.rejected).length > 0) {
            throw new Error(`${where}: rejected ${JSON.stringify(timing.rejected)}`);
          }
          const key = `${where} ${log.rows}`;
          if (round > 0) timings.set(key, [...(timings.get(key) ?? []), timing.p50]);
        }
      }
    }
    const [short, long] = logs as [Log, Log];
    const ratios = WHERE.map((where) => ({ where, times: ratio(times(where, long), times(where, short)) }));
    printTable(
      `A page of ${PAGE} changes (p50 in milliseconds, one connection)`,
      ratios.map((each) => ({
        page: each.where,
        ...Object.fromEntries(
          logs.map((log) => [
            `${log.rows.toLocaleString('en-US')} rows`,
            show(figure(times(each.where, log))),
          ]),
        ),
        '×': show(each.times),
      })),
    );
    return {
      data: Object.fromEntries(timings),
      verdicts: ratios.map((each) =>
        atMost(
          `${each.where} at ${long.rows.toLocaleString('en-US')} rows, of ${short.rows.toLocaleString('en-US')}`,
          each.times,
          1.5,
        ),
      ),
    };
  } finally {
    for (const { exchange, database } of logs) {
      await exchange.stop();
      await database.drop();
    }
  }
}

async function write(bench: Bench, rows: number): Promise<Log> {
  const database = await bench.server.createDatabase();
  const exchange = await startExchange({ databaseUrl: database.url });
  const { name, token } = exchange.dev.dataProviders[0]!;
  const changes = `${name}/changes?pageSize=${PAGE}`;
  const tokenNow = async () => {
    const page = await exchange.call(token, 'GET', changes);
    return (page as { nextPageToken: string }).nextPageToken;
  };
  let middle = '';
  for (let done = 0; done < rows; ) {
    const count = Math.min(PORTION, done < rows / 2 ? rows / 2 - done : rows - done);
    progress(`feed: log of ${rows.toLocaleString('en-US')} rows, ${done.toLocaleString('en-US')}`);
    await database.query(
      `INSERT INTO changes (party, name, kind, state, version, time)
         SELECT party, party || '/requisitions/r' || substr(md5(i::text), 1, 13), 'REQUISITION', 'UNFULFILLED', 1, now()
           FROM generate_series($1::int, $2::int) AS i, LATERAL (SELECT CASE WHEN i % 2 = 0 THEN $3
             ELSE 'dataProviders/other-' || (i / 2) % $4::int END AS party)`,
      [done + 1, done + count, name, OTHERS],
    );
    done += count;
    if (done === rows / 2) middle = await tokenNow();
  }
  const end = await tokenNow();
  await database.query('VACUUM ANALYZE changes');
  const path = (more: string) => `/v2alpha/${changes}&${more}`;
  return {
    rows,
    database,
    exchange,
    paths: {
      'oldest page': path('from=OLDEST'),
      'page in the middle': path(`pageToken=${middle}`),
      'empty page at the end': path(`pageToken=${end}`),
    },
  };
}
