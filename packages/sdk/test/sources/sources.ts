/** Lists all kinds of event stores. conformance.test.ts and filters.test.ts test each of them. */
import { clickHouse } from './clickhouse.ts';
import { parquetFiles } from './files.ts';
import { postgresTable } from './postgres.ts';
import type { TestSource } from './testSource.ts';

export const TEST_SOURCES: TestSource[] = [parquetFiles, postgresTable, clickHouse];
