/** Reads the distinct combinations of attribute values in the selected events. */
import type { AttributeValue } from '../../../filters/types.ts';
import type { SourceQuery, Watch } from '../source.ts';
import { keySql, keyValue } from './matching.ts';
import { Parameters } from './parameters.ts';
import { brokenResponse } from './problems.ts';
import type { Server } from './server.ts';
import { conditionSql, type Table } from './statement.ts';

/**
 * The number of slots. The server distributes the combinations of attribute values among the slots, and sends one row
 * for each slot. An empty slot also has a row, so that a truncated response is noticed.
 */
const COMBINATION_SLOTS = 64;

/**
 * Returns an SQL query whose result has `COMBINATION_SLOTS` rows, sorted by slot number. Each row has a slot number and
 * the combinations in this slot. The slot number comes from a hash. The number is cast, because the hash of a
 * LowCardinality column is LowCardinality too, and WITH FILL does not support that type.
 */
export function combinationsSql(
  query: SourceQuery,
  table: Table,
  { attributes, limit }: { attributes: readonly string[]; limit: number },
  parameters: Parameters,
): string {
  const condition = conditionSql(query, table, new Map(), parameters);
  const keys = attributes.map((name, i) => `${keySql(table.columns.attributes.get(name)!)} AS \`@${i}\``);
  const names = attributes.map((_, i) => `\`@${i}\``).join(', ');
  return `SELECT CAST(ifNull(cityHash64(${names}), 0) % ${COMBINATION_SLOTS} AS UInt8) AS slot, groupArray(tuple(${names}))
FROM (SELECT DISTINCT ${keys.join(', ')} FROM ${table.from} WHERE ${condition} LIMIT ${limit})
GROUP BY slot ORDER BY slot WITH FILL FROM 0 TO ${COMBINATION_SLOTS}`;
}

interface Combinations {
  query: SourceQuery;
  attributes: readonly string[];
  limit: number;
}

export async function* combinations(
  server: Server,
  table: Table,
  { query, attributes, limit }: Combinations,
  watch: Watch,
): AsyncGenerator<AttributeValue[][]> {
  const parameters = new Parameters();
  const sql = combinationsSql(query, table, { attributes, limit }, parameters);
  const types = attributes.map((name) => table.columns.attributes.get(name)!.type);
  let slot = 0;
  for await (const line of linesOf(server.bytes(`${sql}\nFORMAT JSONCompactEachRow`, parameters, watch))) {
    const [found, keys] = lineOf(line);
    if (found !== slot++) throw brokenResponse(line);
    if (keys.length > 0) yield keys.map((row) => row.map((key, i) => keyValue(types[i]!, key)));
  }
  if (slot !== COMBINATION_SLOTS) throw brokenResponse('');
}

function lineOf(line: string): [slot: number, keys: (string | number | null)[][]] {
  try {
    return JSON.parse(line);
  } catch {
    throw brokenResponse(line);
  }
}

async function* linesOf(response: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
    text = lines.pop()!;
    yield* lines;
  }
  if (text !== '') throw brokenResponse(text);
}
