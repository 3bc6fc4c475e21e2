/** Events in a table of a ClickHouse server. */
import { attributeTypes, type RoleNames } from '../columns.ts';
import type { EventSource, Watch } from '../source.ts';
import { type AbsentValues, columnsOf } from './columns.ts';
import { countVids, overview, references } from './inventory.ts';
import { readerOf } from './reader.ts';
import { selfTest } from './selfTest.ts';
import { Server } from './server.ts';
import { settingsOf } from './settings.ts';
import type { Table } from './statement.ts';
import { quotedTable, requireFinalRows, tableColumns, tableName } from './table.ts';

/** Events in a table of a ClickHouse server or cluster. */
export interface ClickHouseSource {
  kind: 'clickhouse';
  /** The URL of the HTTP interface, such as `https://clickhouse.internal:8443`, without a user name. */
  url: string;
  /** The name of the table, optionally with its database, such as `ads.impressions`. */
  table: string;
  user?: string;
  /** Returns the password. Called for each statement, so that the password can be rotated. */
  password?: () => Promise<string>;
  /** The certificate of the authority that signed the server's certificate, in PEM. */
  ca?: string;
  /**
   * Whether to read the table with FINAL. Set this to true if later rows replace or cancel earlier ones. Default:
   * false. A Distributed table that reads a table on other servers requires an explicit value.
   */
  final?: boolean;
  /** The maximum memory of one statement on one server. Default: `8GB`. */
  memoryLimit?: string;
  /** The maximum number of rows that one statement reads on all servers together. Default: 1,000,000,000,000. */
  rowLimit?: number;
  /**
   * The number of passes over the events. Each pass reads the people with one value of `vid % passes`, so more passes
   * take more time but less memory. Default: 1.
   */
  passes?: number;
  /** For each column listed, the value that stands for an absent attribute, such as an empty text. */
  absent?: AbsentValues;
  /** The time limit of one statement, in seconds. Default: 600. */
  timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 600;
const MEMORY_LIMIT = '8GB';
const ROW_LIMIT = 1e12;
const MAX_PASSES = 1024;

export async function openClickHouse(config: ClickHouseSource, names: RoleNames): Promise<EventSource> {
  const { user, password, ca, timeoutSeconds = TIMEOUT_SECONDS } = config;
  const name = tableName(config.table);
  const passes = wholeOf('passes', config.passes ?? 1, MAX_PASSES);
  const settings = settingsOf({
    timeoutSeconds,
    memoryBytes: bytesOf(config.memoryLimit ?? MEMORY_LIMIT),
    rows: wholeOf('rowLimit', config.rowLimit ?? ROW_LIMIT, Number.MAX_SAFE_INTEGER),
  });
  const server = new Server({ url: addressOf(config.url), user, password, ca, settings, timeoutSeconds });
  try {
    await selfTest(server, settings, {});
    const columns = await tableColumns(server, name);
    await requireFinalRows(server, name, config.final);
    const from = `${quotedTable(name)}${config.final ? ' FINAL' : ''}`;
    return sourceOf(
      server,
      { from, columns: columnsOf(names, columns, config.absent ?? {}) },
      passes,
      (watch) => selfTest(server, settings, watch),
    );
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Requires TLS for a server on another machine, because the password and the VIDs cross the network. */
function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search) {
    throw new Error(
      'events.source.url: it must be like https://clickhouse.internal:8443, without a user: set user, and passwordFile or passwordVariable.',
    );
  }
  if (url.protocol === 'https:' || /^(?:localhost|127\..*|\[::1\])$/.test(url.hostname)) return url.href;
  throw new Error('events.source.url: it must begin with https, because the server is on another machine.');
}

function wholeOf(setting: 'passes' | 'rowLimit', value: number, maximum: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= maximum) return value;
  throw new Error(`events.source.${setting}: it must be a whole number from 1 to ${maximum}.`);
}

const UNITS: Record<string, number> = {
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

function bytesOf(text: string): number {
  const [, digits, unit] = /^(\d{1,6}) ?([MGT]i?B)$/.exec(text) ?? [];
  if (digits !== undefined && Number(digits) > 0) return Number(digits) * UNITS[unit!]!;
  throw new Error('events.source.memoryLimit: it must be a number with MB, GB or TB, such as 8GB.');
}

function sourceOf(
  server: Server,
  table: Table,
  passes: number,
  test: (watch: Watch) => Promise<void>,
): EventSource {
  const { columns } = table;
  return {
    dialect: 'clickhouse',
    columns: columns.roles,
    attributes: attributeTypes(columns.attributes),
    canHold: (time) => columns.times.canHold(time),
    read: (watch, work) => work(readerOf(server, table, passes, watch)),
    references: (limit, watch) => references(server, table, limit, watch),
    overview: (watch) => overview(server, table, watch),
    countVids: (vid, population, watch) => countVids(server, table, { vid, population }, watch),
    selfTest: test,
    close: () => server.close(),
  };
}
