/** Checks populations, and the protocol configurations of measurements. */
import {
  equalBytes,
  MAX_VID,
  PROTOCOLS,
  type Subpopulation,
  type VidRange,
} from '@measurement-exchange/contract';
import type pg from 'pg';
import { isAscending, summaryOf } from '../../domain/population.ts';
import { subpopulationViolations } from '../../domain/subpopulations.ts';
import { type Check, checks, type Found, MAX_EXAMPLES, NAME, RESTORE, unionAll } from './check.ts';

interface Ranges {
  name: string;
  vid_ranges: VidRange[];
  subpopulations: Subpopulation[];
  size: number;
  fingerprint: Uint8Array;
}

function isSound({ vid_ranges: ranges, subpopulations, size, fingerprint }: Ranges): boolean {
  if (!isAscending(ranges) || ranges[0]!.start < 1 || ranges.at(-1)!.end > MAX_VID) return false;
  if (subpopulationViolations(subpopulations, ranges).length > 0) return false;
  const summary = summaryOf(ranges);
  return summary.size === size && equalBytes(summary.fingerprint, fingerprint);
}

export const populationChecks: Check[] = [
  {
    id: 'population-ranges',
    severity: 'error',
    meaning:
      'The ranges of a population overlap, do not match its size and fingerprint, or do not hold its subpopulations.',
    remedy: RESTORE,
    async find(client: pg.ClientBase): Promise<Found> {
      const { rows } = await client.query<Ranges>(
        `SELECT ${NAME.population} AS name, o.vid_ranges, o.subpopulations, o.size, o.fingerprint FROM populations o ORDER BY 1`,
      );
      const wrong = rows.filter((row) => !isSound(row)).map(({ name }) => name);
      return { names: wrong.slice(0, MAX_EXAMPLES), rows: wrong.length };
    },
  },
  ...checks({
    'population-default': {
      meaning:
        'Two populations are the default, or a model line belongs to two: measurements may count either.',
      remedy: 'Leave one of them, then REINDEX the index that let the other pass.',
      names: unionAll(
        `SELECT name FROM (
            SELECT ${NAME.population} AS name, count(*) OVER () AS defaults FROM populations o WHERE o.is_default
          ) AS o WHERE defaults > 1`,
        `SELECT 'model line ' || model_line FROM population_model_lines GROUP BY model_line HAVING count(*) > 1`,
      ),
    },
    'protocol-config': {
      meaning:
        'A measurement lacks the configuration of its protocol, has a configuration that it does not need, or refers to ' +
        'a population that does not exist or has another fingerprint.',
      names: `SELECT ${NAME.measurement} AS name FROM measurements m
         LEFT JOIN populations o ON ${NAME.population} = m.protocol_config->>'population'
              AND encode(o.fingerprint, 'base64') = m.protocol_config->>'populationFingerprint'
        WHERE (m.protocol = ANY($1::text[])) <> (m.protocol_config IS NOT NULL)
           OR (m.protocol = 'honestMajorityShareShuffle') <> (o.id IS NOT NULL)`,
      values: [PROTOCOLS.filter((protocol) => protocol !== 'direct')],
    },
  }),
];
