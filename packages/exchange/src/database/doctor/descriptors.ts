/** Checks that the stored message types of each descriptor match its descriptor set. */
import type pg from 'pg';
import { messageTypesOf } from '../../protobuf/descriptor/descriptorSet.ts';
import { type Check, type Found, MAX_EXAMPLES, NAME, RESTORE } from './check.ts';

/**
 * A cursor reads the descriptor sets in small batches, because a set can be 1 MiB long. The check parses the sets in
 * this process, because SQL cannot parse them.
 */
const DECLARE = `
  DECLARE described NO SCROLL CURSOR FOR
  SELECT ${NAME.descriptor} AS name, d.provider, d.descriptor_set, noted.types, noted.providers
    FROM event_group_metadata_descriptors d LEFT JOIN (
      SELECT descriptor, array_agg(type_name) AS types, array_agg(DISTINCT provider) AS providers
        FROM descriptor_types GROUP BY descriptor
    ) AS noted ON noted.descriptor = d.id
   ORDER BY 1`;

interface Described {
  name: string;
  provider: string;
  descriptor_set: Uint8Array;
  types: string[] | null;
  providers: string[] | null;
}

function isNotedRight({ provider, descriptor_set, types, providers }: Described): boolean {
  const noted = new Set(types);
  try {
    const defined = new Set(messageTypesOf(descriptor_set));
    return defined.symmetricDifference(noted).size === 0 && (providers ?? []).every((p) => p === provider);
  } catch {
    return false;
  }
}

export const descriptorChecks: Check[] = [
  {
    id: 'descriptor-types',
    severity: 'error',
    meaning:
      'The message types stored for a descriptor are not those that its set defines, or the set cannot be read.',
    remedy:
      'Delete its rows in descriptor_types and run mex migrate, which stores the types again. ' +
      `If the doctor finds it again, the set is damaged. ${RESTORE}`,
    async find(client: pg.ClientBase): Promise<Found> {
      const found: Found = { names: [], rows: 0 };
      await client.query(DECLARE);
      for (;;) {
        const { rows } = await client.query<Described>('FETCH 25 FROM described');
        if (rows.length === 0) break;
        for (const row of rows) {
          if (isNotedRight(row)) continue;
          found.rows++;
          if (found.names.length < MAX_EXAMPLES) found.names.push(row.name);
        }
      }
      await client.query('CLOSE described');
      return found;
    },
  },
];
