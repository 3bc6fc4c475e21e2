/** Defines the interface through which the test suites in this folder fill and open each kind of event store. */
import type { AttributeType, AttributeValue } from '../../src/filters/types.ts';
import type { EventsConfig } from '../../src/provider/events.ts';
import type { DialectName } from '../../src/provider/filter/dialect.ts';

/** A table to write to a store. Times and dates are microseconds since 1970, and integers are bigints. */
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
  /** The part of the settings that locates the events. */
  where: Pick<EventsConfig, 'files' | 'source'>;
  /** Removes the table. */
  remove(): Promise<void>;
}

export interface TestSource {
  name: string;
  /**
   * The reason why the source cannot be tested on this machine, or undefined if it can. If there is a reason, the
   * suites skip the source and print the reason.
   */
  skipped?: string;
  dialect: DialectName;
  /** The minimum share of random filters that must run entirely in SQL. */
  leastInSql: number;
  /** True if text in the store cannot contain the character U+0000. */
  lacksNul?: boolean;
  load(table: TestTable): Promise<Loaded>;
}
