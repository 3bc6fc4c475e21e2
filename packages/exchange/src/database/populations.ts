import type { PopulationRecord } from '../domain/population.ts';
import type { Population } from '../domain/shareShuffle.ts';
import { sql, type Transaction } from './db.ts';
import { type Cursor, longPageText, pageRow } from './page.ts';
import { read } from './run.ts';
import {
  column,
  except,
  type Fields,
  insertText,
  names,
  parameters,
  select,
  table,
  values,
} from './table.ts';

type Stored = Omit<PopulationRecord, 'modelLines'>;

const FIELDS: Fields<Stored> = {
  id: column('id'),
  displayName: column('display_name'),
  vidRanges: column('vid_ranges', 'json'),
  subpopulations: column('subpopulations', 'json'),
  size: column('size', 'int'),
  fingerprint: column('fingerprint', 'bytes'),
  isDefault: column('is_default', 'bool'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
};
const populations = table<Stored>('populations', FIELDS);
const population = table<PopulationRecord>('populations', {
  ...FIELDS,
  modelLines: column('model_lines', 'texts'),
}).reader();

const COLUMNS = `${select(populations, 'p')},
  ARRAY(SELECT l.model_line FROM population_model_lines l WHERE l.population = p.id ORDER BY l.ordinal) AS model_lines`;

const GET = sql('population_get', `SELECT ${COLUMNS} FROM populations p WHERE p.id = $1`, population);

export const getPopulation = read.first((id: string) => [id], GET);

const SIZE = `600 + octet_length(p.vid_ranges::text) + octet_length(p.subpopulations::text)
  + (SELECT coalesce(sum(3 + octet_length(l.model_line)), 0) FROM population_model_lines l WHERE l.population = p.id)`;
export const listPopulations = read.page(
  (after: Cursor, limit: number, maxBytes: number) => [after.time, after.id, limit, maxBytes],
  'population_list',
  longPageText(
    `SELECT p.id, p.create_time AS position, ${SIZE} AS size FROM populations p
      WHERE (p.create_time, p.id) > ($1::timestamptz, $2) ORDER BY p.create_time, p.id LIMIT $3::int + 1`,
    `SELECT ${COLUMNS}, page.candidates, page.nth FROM page JOIN populations p ON p.id = page.id`,
    { limit: 3, bytes: 4 },
  ),
  pageRow(population),
);

/** Finds the population of a model line, or the default population if no model line is given. */
export const populationOfMeasurement = read.first(
  (modelLine: string | undefined) => [modelLine],
  sql<Population>(
    'population_of_measurement',
    `SELECT p.id, p.size, p.fingerprint FROM population_model_lines l JOIN populations p ON p.id = l.population
    WHERE l.model_line = $1
    UNION ALL
   SELECT p.id, p.size, p.fingerprint FROM populations p WHERE p.is_default AND $1::text IS NULL`,
  ),
);

const LOCK = sql(
  'populations_take_turns',
  `SELECT pg_advisory_xact_lock(hashtextextended('populations', 0))`,
);
const GET_DEFAULT = sql(
  'population_get_default',
  `SELECT ${COLUMNS} FROM populations p WHERE p.is_default`,
  population,
);
const TAKERS = sql<{ modelLine: string; population: string }>(
  'population_takers',
  `SELECT l.model_line AS "modelLine", l.population FROM population_model_lines l
    WHERE l.model_line = ANY($1) AND l.population <> $2 ORDER BY l.model_line`,
);

/**
 * Locks all populations until the transaction ends, which is acceptable because populations rarely change. Returns the
 * population with this ID (`existing`), the default population (`current`), and the given model lines that belong to
 * other populations (`takers`).
 */
export async function lockPopulations(tx: Transaction, id: string, modelLines: string[] = []) {
  const [, existing, current, takers] = await Promise.all([
    tx.query(LOCK, []),
    tx.query(GET, [id]),
    tx.query(GET_DEFAULT, []),
    tx.query(TAKERS, [modelLines, id]),
  ]);
  return { existing: existing[0], current: current[0], takers };
}

const INSERT = sql('population_insert', insertText(populations));
const DELETE_LINES = sql(
  'population_model_lines_delete',
  'DELETE FROM population_model_lines WHERE population = $1',
);
const INSERT_LINES = sql(
  'population_model_lines_insert',
  `INSERT INTO population_model_lines (population, model_line, ordinal)
   SELECT $1, given.model_line, given.nth FROM unnest($2::text[]) WITH ORDINALITY AS given(model_line, nth)`,
);

export function insertPopulation(tx: Transaction, record: PopulationRecord): void {
  tx.last(INSERT, values(populations.columns, record));
  tx.last(INSERT_LINES, [record.id, record.modelLines]);
}

const CHANGEABLE = except(
  populations,
  ...(['id', 'vidRanges', 'subpopulations', 'size', 'fingerprint', 'createTime'] as const),
);
const UPDATE = sql(
  'population_update',
  `WITH p AS (
     UPDATE populations SET (${names(CHANGEABLE)}) = (${parameters(CHANGEABLE, 3)})
      WHERE id = $1 AND version = $2::int - 1 RETURNING 1
   ) SELECT expect_rows((SELECT count(*) FROM p), 1)`,
);

export function savePopulation(tx: Transaction, record: PopulationRecord): void {
  tx.last(UPDATE, [record.id, record.version, ...values(CHANGEABLE, record)]);
  tx.last(DELETE_LINES, [record.id]);
  tx.last(INSERT_LINES, [record.id, record.modelLines]);
}
