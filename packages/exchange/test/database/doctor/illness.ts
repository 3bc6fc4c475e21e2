/** Test data: the type of a defect, and the resource names and SQL that the defects share. */
import { BRAND, RADIO, TV } from './data.ts';

/**
 * A defect: its title, the SQL that plants it, the ID of the only check that must report it, and the names in the
 * finding. The SQL runs while triggers, foreign keys and CHECK constraints are disabled, except for defects of the
 * schema.
 */
export type Illness = [title: string, sql: string, check: string, examples: string[]];

export const measurement = (id: string) => `${BRAND}/measurements/${id}`;
export const tvRequisition = (id: string) => `${TV}/requisitions/${id}-tv`;
export const radioRequisition = (id: string) => `${RADIO}/requisitions/${id}-radio`;
export const descriptor = (id: string) => `${TV}/eventGroupMetadataDescriptors/${id}`;
export const eventGroup = (id: string) => `${TV}/eventGroups/${id}`;

/** Returns SQL that makes a change without updating the index, which simulates a damaged index. */
export const past = (index: string, change: string) => `
  UPDATE pg_index SET indisready = false WHERE indexrelid = '${index}'::regclass;
  ${change};
  UPDATE pg_index SET indisready = true WHERE indexrelid = '${index}'::regclass`;
