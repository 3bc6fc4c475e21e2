/** Computes the figures of a query in one or more passes over the events. */
import type { EventReader, Matching, SourceQuery, Watch } from '../source.ts';
import { combinations } from './combinations.ts';
import { MatchingRows } from './matching.ts';
import { Parameters } from './parameters.ts';
import { peopleOf } from './people.ts';
import { brokenResponse } from './problems.ts';
import type { Server } from './server.ts';
import {
  cappedSumSql,
  type FigureOptions,
  histogramSql,
  type Matched,
  peopleRowsSql,
  type Table,
} from './statement.ts';

export function readerOf(server: Server, table: Table, passes: number, watch: Watch): EventReader {
  const signalOf = ({ signal }: SourceQuery) => ({ signal: signal ?? watch.signal });
  /** Yields the options of each pass, and reports the progress after each pass. */
  async function* eachPass(query: SourceQuery): AsyncGenerator<FigureOptions> {
    const matched = await matchedOf(query, table);
    for (let residue = 0; residue < passes; residue++) {
      yield { matched, pass: { residue, of: passes } };
      query.onProgress?.((100 * (residue + 1)) / passes);
    }
  }
  return {
    combinations: (query, attributes, limit) =>
      combinations(server, table, { query, attributes, limit }, signalOf(query)),
    async *people(query, cap, form) {
      for await (const options of eachPass(query)) {
        const parameters = new Parameters();
        const sql = peopleRowsSql(query, table, { ...options, cap, form }, parameters);
        yield* peopleOf(server.bytes(`${sql}\nFORMAT RowBinary`, parameters, signalOf(query)), form);
      }
    },
    async histogram(query, max) {
      const counts = new Array<bigint>(max).fill(0n);
      let missing = 0n;
      for await (const options of eachPass(query)) {
        const parameters = new Parameters();
        const sql = histogramSql(query, table, max, options, parameters);
        const { rows } = await server.rows(sql, parameters, signalOf(query));
        for (const [k, people, events] of (rows as string[][]).map((row) => row.map(BigInt))) {
          if (k === 0n) missing += events!;
          else counts[Number(k) - 1]! += people!;
        }
      }
      return { counts, missing };
    },
    async cappedSum(query, what, cap) {
      let [sum, missing] = [0n, 0n];
      for await (const options of eachPass(query)) {
        const parameters = new Parameters();
        const sql = cappedSumSql(query, table, { ...options, what, cap }, parameters);
        const { rows } = await server.rows(sql, parameters, signalOf(query));
        if (rows.length !== 1) throw brokenResponse('');
        const [total, without] = (rows[0] as string[]).map(BigInt);
        sum += total!;
        missing += without!;
      }
      return { sum, missing };
    },
  };
}

/**
 * Reads the matching combinations of attribute values for each filter that CEL evaluates. The SQL statements then
 * select events with these combinations.
 */
async function matchedOf({ selections }: SourceQuery, { columns }: Table): Promise<Matched> {
  const matched = new Map<Matching, MatchingRows>();
  for (const { matching } of selections) {
    if (matching && !matched.has(matching)) matched.set(matching, await MatchingRows.read(matching, columns));
  }
  return matched;
}
