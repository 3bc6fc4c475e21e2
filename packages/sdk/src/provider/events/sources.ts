/** Opens a provider's events in any kind of store. The code for a kind of store is loaded only when it is needed. */

import type { ClickHouseSource } from './clickhouse/source.ts';
import type { RoleNames } from './columns.ts';
import type { FilesSource } from './duckdb/source.ts';
import type { PostgresSource } from './postgres/connection.ts';
import type { EventSource } from './source.ts';

/** A table on a server. */
export type ServerSource = PostgresSource | ClickHouseSource;

/** The location of the events: files, or a table on a server. */
export type SourceConfig = FilesSource | ServerSource;

const OPEN: {
  [K in SourceConfig['kind']]: (
    config: Extract<SourceConfig, { kind: K }>,
    names: RoleNames,
  ) => Promise<EventSource>;
} = {
  files: async (config, names) => (await import('./duckdb/source.ts')).openFiles(config, names),
  postgres: async (config, names) => (await import('./postgres/source.ts')).openPostgres(config, names),
  clickhouse: async (config, names) => (await import('./clickhouse/source.ts')).openClickHouse(config, names),
};

export function openSource(config: SourceConfig, names: RoleNames): Promise<EventSource> {
  const open = OPEN[config.kind] as (config: SourceConfig, names: RoleNames) => Promise<EventSource>;
  return open(config, names);
}
