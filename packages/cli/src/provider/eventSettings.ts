/** The `events` of `provider.json`: where a provider's events are, and what their columns mean. */
import * as s from '@measurement-exchange/contract/schema';

const text = () => s.text(64 * 1024, 1);
const count = () => s.integer(1, Number.MAX_SAFE_INTEGER);

const columns = s.partial({
  vid: text(),
  timestamp: text(),
  timestampUnit: s.enumOf(['s', 'ms', 'us', 'ns']),
  eventGroup: text(),
  duration: text(),
  /** The column with the number of events that a row stands for. Without this column, each row is one event. */
  count: text(),
  attributes: s.array(text()),
});

/** A table on a database server. The agent's account needs only permission to read the table. */
const source = {
  kind: s.enumOf(['postgres', 'clickhouse']),
  /** The address of the server, without a user and a password. */
  url: text(),
  /** The name of the table, optionally with its schema or database, as in `ads.impressions`. */
  table: text(),
  ...s.partial({
    user: text(),
    /**
     * The file that contains the password. The agent reads the file again for each connection, so that the password can
     * be changed while the agent runs.
     */
    passwordFile: text(),
    /** The name of the environment variable that contains the password. */
    passwordVariable: text(),
    /** The file with the certificate of the authority that signed the server's certificate, in PEM. */
    caFile: text(),
    final: s.boolean(),
    memoryLimit: text(),
    rowLimit: count(),
    passes: count(),
    absent: s.recordOf(s.anyJson('the value of a column that means that the attribute is absent')),
  }),
};
/** Files in an S3-compatible store. */
const remote = {
  prefixes: s.array(text(), { minItems: 1 }),
  extension: s.object({ file: text(), sha256: text() }),
  ...s.partial({
    endpoint: text(),
    region: text(),
    urlStyle: s.enumOf(['vhost', 'path']),
    keyId: text(),
    secretFile: text(),
    secretVariable: text(),
    caFile: text(),
  }),
};
export type RemoteSettings = s.Static<s.TObject<typeof remote>>;

export type SourceSettings = s.Static<s.TObject<typeof source>>;

/** Settings of `source` that only one kind of source accepts. Each value is that kind. */
const ONLY = {
  final: 'clickhouse',
  memoryLimit: 'clickhouse',
  rowLimit: 'clickhouse',
  passes: 'clickhouse',
  absent: 'clickhouse',
} as const;
/** Settings directly in `events` that are valid only if the events are in files. */
const OF_FILES = ['format', 'remote', 'memoryLimit', 'threads'] as const;

export const eventSettings = s.partial({
  /** Parquet or CSV files. Exactly one of `files` and `source` is set. */
  files: s.array(text(), { minItems: 1 }),
  source: s.object(source),
  /** The store that contains the files, if `files` lists addresses such as `s3://bucket/events.parquet`. */
  remote: s.object(remote),
  format: s.enumOf(['parquet', 'csv']),
  columns: s.object(columns),
  /** The VID column of each model line, if the events contain VIDs of several model lines. */
  vidColumns: s.recordOf(text()),
  memoryLimit: text(),
  threads: count(),
  maximumCombinations: count(),
  timeoutSeconds: s.number({ exclusiveMinimum: 0 }),
});
export type EventSettings = s.Static<s.TObject<typeof eventSettings>>;

/** Returns one message for each setting that is missing, or that contradicts another setting. */
export function eventContradictions(events: EventSettings): string[] {
  const { files, source, vidColumns } = events;
  const problems: string[] = [];
  const add = (when: unknown, sentence: string) => void (when && problems.push(sentence));
  add(files && source, 'events.files and events.source are both set: keep one of them.');
  add(!files && !source, 'events needs files, or a source that names the table of a server.');
  for (const setting of OF_FILES) {
    add(source && events[setting] !== undefined, `events.${setting} is for files only: remove it.`);
  }
  add(
    vidColumns && Object.keys(vidColumns).length === 0,
    'events.vidColumns must name at least one model line.',
  );
  add(
    vidColumns && events.columns?.vid !== undefined,
    'events.columns.vid and events.vidColumns are both set: keep one of them.',
  );
  add(
    events.remote?.secretFile !== undefined && events.remote.secretVariable !== undefined,
    'events.remote.secretFile and events.remote.secretVariable are both set: keep one of them.',
  );
  if (!source) return problems;
  add(
    source.passwordFile !== undefined && source.passwordVariable !== undefined,
    'events.source.passwordFile and events.source.passwordVariable are both set: keep one of them.',
  );
  for (const [setting, kind] of Object.entries(ONLY) as [keyof typeof ONLY, string][]) {
    const isForeign = source[setting] !== undefined && source.kind !== kind;
    add(isForeign, `events.source.${setting} is for ${kind} only: remove it.`);
  }
  return problems;
}
