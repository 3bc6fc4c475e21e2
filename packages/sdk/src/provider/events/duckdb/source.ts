/** Opens a provider's events in Parquet or CSV files. */
import { attributeTypes, type RoleNames } from '../columns.ts';
import type { EventSource, Watch } from '../source.ts';
import { resolveColumns } from './columns.ts';
import { eventFiles, startEngine } from './engine.ts';
import { type Opened, openTable } from './files.ts';
import { countVids, overviewOf } from './overview.ts';
import { FileReader } from './reader.ts';
import { referencesOf } from './references.ts';
import type { RemoteFiles } from './remote.ts';
import { verifyFiles } from './verifyFiles.ts';

/** Events in files. */
export interface FilesSource {
  kind: 'files';
  /**
   * Local paths, or addresses such as `s3://bucket/2026/*.parquet` (see `remote`). Patterns are expanded at each query.
   */
  files: string | string[];
  /**
   * The file format. Default: CSV if the first file has a CSV extension (`.csv`, `.tsv`, `.csv.gz` …), otherwise
   * Parquet.
   */
  format?: 'parquet' | 'csv';
  /** The S3-compatible store for files with a remote address. Default: all files are on this machine. */
  remote?: RemoteFiles;
  /** The query engine's memory limit. Beyond this limit, the engine uses the disk. Default: `512MB`. */
  memoryLimit?: string;
  /** The number of threads of the query engine. Default: one per core. */
  threads?: number;
}

export async function openFiles(config: FilesSource, names: RoleNames): Promise<EventSource> {
  const { remote, memoryLimit, threads } = config;
  const files = eventFiles(config.files, remote);
  const engine = await startEngine({ files, remote, memoryLimit, threads });
  try {
    const table = await openTable(engine, files, { format: config.format, names });
    return sourceOf({ engine, table, columns: resolveColumns(names, table.columns) }, names);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function sourceOf(opened: Opened, names: RoleNames): EventSource {
  const { engine, columns } = opened;
  return {
    dialect: 'duckdb',
    columns: columns.roles,
    attributes: attributeTypes(columns.attributes),
    canHold: columns.canHold,
    read({ signal, onProgress }, work) {
      let follow: Watch['onProgress'];
      // Ask for progress only if the caller wants it, because tracking progress slows the engine.
      const watch = { signal, onProgress: onProgress && ((percent: number) => follow?.(percent)) };
      return engine.use(watch, (connection) =>
        work(
          new FileReader(opened, connection, (onProgress) => {
            follow = onProgress;
          }),
        ),
      );
    },
    references: (limit, watch) => referencesOf(opened, limit, watch),
    overview: (watch) => overviewOf(opened, watch),
    countVids: (vid, population, watch) => countVids(opened, columns.vids.get(vid)!, population, watch),
    selfTest: (watch) => verifyFiles(opened, names, watch),
    close: () => engine.close(),
  };
}
