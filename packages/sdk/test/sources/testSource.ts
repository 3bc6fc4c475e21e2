/** A kind of store that events can be in, as the suites of this folder fill and open it. */
import type { AttributeType, AttributeValue } from '../../src/filters/types.ts';
import type { EventsConfig } from '../../src/provider/events.ts';
import type { DialectName } from '../../src/provider/filter/dialect.ts';

/** A table to be written to a store. Times and dates are microseconds since 1970, and integers are bigints. */
export interface TestTable {
  columns: TestColumn[];
  rows: AttributeValue[][];
}

export interface TestColumn {
  name: string;
  type: AttributeType | 'date';
  nullable: boolean;
}

export interface Loaded {
  /** The part of the settings that says where the events are. */
  where: Pick<EventsConfig, 'files' | 'source'>;
  /** Removes the table. */
  remove(): Promise<void>;
}

export interface TestSource {
  name: string;
  /** Why the source cannot be tested here. The suites then skip it, and say why. */
  skipped?: string;
  dialect: DialectName;
  /** The least share of random filters that must run in SQL alone. */
  leastInSql: number;
  /** Whether the store cannot contain the character U+0000 in text. */
  lacksNul?: boolean;
  load(table: TestTable): Promise<Loaded>;
}
