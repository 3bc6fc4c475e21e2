/**
 * Lists event groups. Each combination of filters has its own statement, so that PostgreSQL plans each combination
 * separately.
 */
import { DEFAULT_ENTITY_TYPE, type Timestamp } from '@measurement-exchange/contract';
import type { EventGroupRecord } from '../domain/eventGroup.ts';
import { type Queryable, type Statement, sql, statements } from './db.ts';
import { COLUMNS, eventGroups, type Side } from './eventGroups.ts';
import { type Cursor, type Page, type PageRow, pageOf, pageRow } from './page.ts';

export type EventGroupOrder = 'create' | 'start' | 'start_desc';

/** A time range that includes both ends. */
export interface Range {
  from: Timestamp | '-infinity';
  to: Timestamp | 'infinity';
}

export interface EventGroupListQuery {
  side: Side;
  party: string;
  states: string[];
  order: EventGroupOrder;
  after: Cursor;
  limit: number;
  maxBytes: number;
  parties?: string[] | undefined;
  mediaTypes?: string[] | undefined;
  /**
   * Ranges for the start and the end of a group's availability. A group without a start matches no `start` range. A
   * group without an end counts as ending at infinity.
   */
  start?: Range | undefined;
  end?: Range | undefined;
  /** Each word must be a prefix of a word in the brand name or the campaign name. */
  words?: string[] | undefined;
  entityTypes?: string[] | undefined;
}

const START = `coalesce(e.availability_start, '-infinity')`;

export function cursorOf(group: EventGroupRecord, order: EventGroupOrder): Cursor {
  const time = order === 'create' ? group.createTime : (group.availability?.startTime ?? '-infinity');
  return { time, id: group.id };
}

/**
 * The approximate size of an event group in a response, in bytes. PostgreSQL knows the length of a long (TOASTed) value
 * without reading the value.
 */
const SIZE = `2000 + coalesce(octet_length(e.attributes), 0) + coalesce(octet_length(e.entity_metadata), 0)
  + octet_length(array_to_string(e.event_templates || e.vid_model_lines, ''))
  + coalesce(octet_length(e.brand_name), 0) + coalesce(octet_length(e.campaign_name), 0)
  + (coalesce(octet_length(e.metadata_ciphertext), 0) + coalesce(octet_length(e.key_data), 0)) * 4 / 3
  + coalesce(greatest(e.metadata_size, octet_length(e.metadata_value) * 4 / 3), 0)`;

/**
 * The filters, in the order of their parameters, which start at `$7`. In a condition, `n` is the number of the filter's
 * first parameter.
 */
const FILTERS = [
  {
    name: 'of',
    values: (q: EventGroupListQuery) => q.parties && [q.parties],
    condition: (n: number, { side }: EventGroupListQuery) => `e.${other(side)} = ANY($${n}::text[])`,
  },
  {
    name: 'media',
    values: (q: EventGroupListQuery) => q.mediaTypes && [q.mediaTypes],
    condition: (n: number) => `e.media_types && $${n}::text[]`,
  },
  {
    name: 'from',
    values: (q: EventGroupListQuery) => q.start && [q.start.from, q.start.to],
    // If the list is sorted by the expression `START`, use the same expression in the condition. PostgreSQL then
    // reads only the matching part of the index on that expression.
    condition: (n: number, { order }: EventGroupListQuery) =>
      `${order === 'create' ? 'e.availability_start' : START} BETWEEN $${n}::timestamptz AND $${n + 1}::timestamptz
       AND e.availability_start IS NOT NULL`,
  },
  {
    name: 'to',
    values: (q: EventGroupListQuery) => q.end && [q.end.from, q.end.to],
    condition: (n: number) =>
      `coalesce(e.availability_end, 'infinity') BETWEEN $${n}::timestamptz AND $${n + 1}::timestamptz`,
  },
  {
    name: 'text',
    values: (q: EventGroupListQuery) => q.words && [prefixQuery(q.words)],
    condition: (n: number) => `e.search @@ to_tsquery('simple', $${n})`,
  },
  {
    name: 'entity',
    values: (q: EventGroupListQuery) => q.entityTypes && [q.entityTypes],
    condition: (n: number) => `coalesce(e.entity_type, '${DEFAULT_ENTITY_TYPE}') = ANY($${n}::text[])`,
  },
];

/**
 * Builds a text search query that matches the words as prefixes. The quotes keep a word from being parsed as an
 * operator.
 */
function prefixQuery(words: string[]): string {
  return words.map((word) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}':*`).join(' & ');
}

function other(side: Side): Side {
  return side === 'provider' ? 'consumer' : 'provider';
}

/**
 * Returns the statement for a query, and the values of its parameters: `$1` party, `$2` states, `$3, $4` cursor, `$5`
 * limit, `$6` maximum bytes, then the filters' values.
 */
export function listStatement(q: EventGroupListQuery): {
  statement: Statement<PageRow<EventGroupRecord>>;
  values: unknown[];
} {
  const values: unknown[] = [q.party, q.states, q.after.time, q.after.id, q.limit, q.maxBytes];
  const conditions: string[] = [];
  let name = `event_group_list_${q.side}_${q.order}`;
  for (const filter of FILTERS) {
    const given = filter.values(q);
    if (given === undefined) continue;
    name += `_${filter.name}`;
    conditions.push(filter.condition(values.length + 1, q));
    values.push(...given);
  }
  const known = statements.get(name) as Statement<PageRow<EventGroupRecord>> | undefined;
  const statement = known ?? sql(name, listText(q, conditions), pageRow(eventGroups.reader()));
  return { statement, values };
}

function listText(q: EventGroupListQuery, conditions: string[]): string {
  const isDescending = q.order === 'start_desc';
  const position = q.order === 'create' ? 'e.create_time' : START;
  const order = isDescending ? 'position DESC, id DESC' : 'position, id';
  const select = `SELECT e.id, ${position} AS position, e.descriptor, ${SIZE} AS size FROM event_groups e`;
  const rest = `AND (${position}, e.id) ${isDescending ? '<' : '>'} ($3::timestamptz, $4)
    ORDER BY ${order} LIMIT $5::int + 1`;
  return `
    WITH candidates AS MATERIALIZED (${q.words ? searched() : probed()}),
    costs AS (
      SELECT id, position, size, count(*) OVER () AS candidates, row_number() OVER (ORDER BY ${order}) AS nth,
             -- Each schema that the page needs to decode metadata counts once, with the memory that linking it takes.
             CASE WHEN row_number() OVER (PARTITION BY descriptor ORDER BY ${order}) = 1 THEN
               coalesce((SELECT 4 * octet_length(d.descriptor_set) FROM event_group_metadata_descriptors d
                          WHERE d.id = descriptor), 0) ELSE 0 END AS schema_size
        FROM candidates
    ), page AS (
      SELECT id, candidates, nth, sum(size + schema_size) OVER (ORDER BY nth) AS running FROM costs
    )
    SELECT ${COLUMNS}, page.candidates, page.nth FROM page JOIN event_groups e ON e.id = page.id
     WHERE page.nth <= $5::int AND (page.nth = 1 OR page.running <= $6::bigint) ORDER BY page.nth`;

  /**
   * Generates SQL that finds and then sorts all matches of the words, because no index returns these matches in order.
   */
  function searched(): string {
    const all = [
      `ARRAY[e.provider, e.consumer] @> ARRAY[$1::text]`,
      'e.state = ANY($2::text[])',
      ...conditions,
    ];
    return `${select} WHERE ${all.join(' AND ')} ${rest}`;
  }

  /**
   * Generates SQL for a query without words. The SQL reads the index once per state, or once per state and party, and
   * merges the results.
   */
  function probed(): string {
    const isNarrowed = q.parties !== undefined;
    const own = [`e.${q.side} = $1`, 'e.state = wanted.state'];
    if (isNarrowed) own.push(`e.${other(q.side)} = party.name`);
    const filters = isNarrowed ? conditions.slice(1) : conditions;
    return `
      SELECT probe.* FROM unnest($2::text[]) AS wanted(state)
       ${isNarrowed ? 'CROSS JOIN unnest($7::text[]) AS party(name)' : ''} CROSS JOIN LATERAL (
        ${select} WHERE ${[...own, ...filters].join(' AND ')} ${rest}
      ) probe ORDER BY ${order} LIMIT $5::int + 1`;
  }
}

export async function listEventGroups(
  db: Queryable,
  query: EventGroupListQuery,
): Promise<Page<EventGroupRecord>> {
  const { statement, values } = listStatement(query);
  return pageOf(await db.query(statement, values));
}
