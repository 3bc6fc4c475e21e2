/**
 * Evaluates the part of a filter that has no equivalent in SQL. CEL runs once for each distinct combination of the
 * attribute values that the filter depends on. The source then selects the events whose combination matches.
 */
import type { AttributeValue } from '../../filters/types.ts';
import { QueryStopped } from '../filter/errors.ts';
import { match } from '../filter/evaluator.ts';
import type { SelectionFilter } from './people.ts';
import type { EventReader, Matching, SourceQuery } from './source.ts';

/**
 * Returns the combinations of attribute values that match a filter. CEL evaluates the combinations only when the source
 * reads the result's `rows`.
 */
export function matchingOf(
  filter: SelectionFilter,
  reader: EventReader,
  query: SourceQuery,
  maximumCombinations: number,
): Matching {
  const { attributes, cost } = filter.compiled.rest!;
  async function* rows(): AsyncGenerator<AttributeValue[][]> {
    let found = 0;
    for await (const batch of reader.combinations(query, attributes, maximumCombinations + 1)) {
      found += batch.length;
      if (found > maximumCombinations) {
        throw new QueryStopped(
          `A filter depends on more than ${maximumCombinations} combinations of attributes, see maximumCombinations.`,
        );
      }
      const matched = await match(filter, { part: 'rest', cost, rows: batch }, query.signal);
      const matching = batch.filter((_, i) => matched[i]);
      if (matching.length > 0) yield matching;
    }
  }
  return { attributes, rows: rows() };
}
