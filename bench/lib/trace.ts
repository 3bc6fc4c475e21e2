/** Runs an operation once to find which statements it sends, with which values and in how many round trips. */
import { type JsonValue, matchRoute, parseJson, readRequest, toJson } from '@measurement-exchange/contract';
import { loadConfig } from '@measurement-exchange/exchange/config';
import {
  type Input,
  type JobName,
  jobs,
  type Output,
} from '@measurement-exchange/exchange/internal/compute/jobs';
import {
  Database,
  type Statement,
  type Transaction,
} from '@measurement-exchange/exchange/internal/database/db';
import { LastSeen } from '@measurement-exchange/exchange/internal/database/lastSeen';
import { OpenMeasurements } from '@measurement-exchange/exchange/internal/database/openMeasurements';
import { parsePrincipal } from '@measurement-exchange/exchange/internal/domain/access';
import { ChangeBus } from '@measurement-exchange/exchange/internal/feed/changeBus';
import { Feed } from '@measurement-exchange/exchange/internal/feed/feed';
import { newId } from '@measurement-exchange/exchange/internal/ids';
import {
  type Exchange,
  type Handler,
  operations,
} from '@measurement-exchange/exchange/internal/operations/index';
import { PageTokens } from '@measurement-exchange/exchange/internal/operations/paging';
import { SECRETS_KEY_BYTES, Secrets } from '@measurement-exchange/server';
import { fill, type Template } from './requests.ts';

export interface Step {
  /** The name of a prepared statement. The steps exclude BEGIN and COMMIT, which `Script.transaction` implies. */
  statement: string;
  values: unknown[];
}

/** The statements of an operation. Each trip is one round trip, whose statements are sent together. */
export interface Script {
  transaction: boolean;
  trips: Step[][];
  /** The IDs that the operation generated. */
  made: string[];
  /** The size of the response body. */
  bytes: number;
}

class TracedDatabase extends Database {
  readonly script: Script = { transaction: false, trips: [], made: [], bytes: 0 };
  private waiting = 0;

  private note(statement: Statement<unknown>, values: unknown[]): void {
    // A statement that is sent while no other statement is pending begins a new round trip.
    if (this.waiting === 0) this.script.trips.push([]);
    this.script.trips.at(-1)!.push({ statement: statement.name, values });
  }

  private async during<T>(work: Promise<T>): Promise<T> {
    this.waiting++;
    try {
      return await work;
    } finally {
      this.waiting--;
    }
  }

  override query<R>(statement: Statement<R>, values: unknown[]): Promise<R[]> {
    this.note(statement, values);
    return this.during(super.query(statement, values));
  }

  override tx<T>(name: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.script.transaction = true;
    return super.tx(name, (tx) =>
      work({
        query: (statement, values) => {
          this.note(statement, values);
          return this.during(tx.query(statement, values));
        },
        last: (statement, values) => {
          this.note(statement, values);
          // This statement is awaited only together with the COMMIT. Count it as pending until then, so that later
          // statements belong to the same round trip.
          this.waiting++;
          tx.last(statement, values);
        },
        commit: () => tx.commit(),
        rollback: () => tx.rollback(),
      }),
    );
  }
}

export async function trace(
  databaseUrl: string,
  caller: string,
  template: Template,
  item: string[],
): Promise<Script> {
  const db = new TracedDatabase({ connection: { connectionString: databaseUrl }, applicationName: 'trace' });
  const bus = new ChangeBus();
  const feed = new Feed(db, bus);
  try {
    const exchange: Exchange = {
      db,
      clock: () => new Date().toISOString().replace('Z', '000Z'),
      newId: () => {
        const id = newId();
        db.script.made.push(id);
        return id;
      },
      checks: 'advisory',
      protocols: {},
      deadlines: { ...loadConfig({}).computations, cancelPendingAfterDays: undefined },
      lastSeen: new LastSeen(),
      replica: { id: 'trace', host: 'trace', version: '0', startTime: '2026-01-01T00:00:00.000000Z' },
      mode: 'production',
      doctor: { leaseMs: 0, begin: () => {}, runIfDue: async () => false },
      duchyEndpoints: 'anywhere',
      duchyOperators: {},
      // The exchange counts open measurements only at intervals, so the count does not belong to any operation.
      openMeasurements: new OpenMeasurements({ query: async () => [{ n: 0 }] as never }, 1e9),
      allowsHttp: false,
      pageTokens: new PageTokens(new Uint8Array(32)),
      feed,
      secrets: new Secrets(new Uint8Array(SECRETS_KEY_BYTES)),
      principalsChanged: () => {},
      bus,
    };
    const [path, query = ''] = fill(template.path, item).split('?') as [string, string?];
    const { route, params } = matchRoute(template.method, path);
    const body =
      template.body === undefined ? undefined : (parseJson(fill(template.body, item)) as JsonValue);
    const input = readRequest(route, params, query, body);
    const call = {
      principal: parsePrincipal(caller)!,
      issuer: 'trace',
      subject: caller,
      requestId: '0'.repeat(24),
      findings: [],
      compute: async <J extends JobName>(job: J, input: Input<J>) =>
        (jobs[job] as (input: Input<J>) => Output<J>)(input),
      waitAside: async () => {},
    };
    const operation = operations[route.operation as keyof typeof operations] as Handler<never>;
    const result = await operation(exchange, call, input as never);
    db.script.bytes = Buffer.byteLength(toJson(route.response, result as never));
    return db.script;
  } finally {
    feed.stop();
    await db.close();
  }
}
