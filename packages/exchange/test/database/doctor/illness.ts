/** For tests: one thing that can be wrong with the rows of testData.ts, and what the doctor must say to it. */
import { BRAND, RADIO, TV } from './data.ts';

/** With triggers, foreign keys and CHECK constraints off; the one check that must speak, and what it names. */
export type Illness = [title: string, sql: string, check: string, examples: string[]];

export const measurement = (id: string) => `${BRAND}/measurements/${id}`;
export const tvRequisition = (id: string) => `${TV}/requisitions/${id}-tv`;
export const radioRequisition = (id: string) => `${RADIO}/requisitions/${id}-radio`;
export const descriptor = (id: string) => `${TV}/eventGroupMetadataDescriptors/${id}`;
export const eventGroup = (id: string) => `${TV}/eventGroups/${id}`;

/** The way of a damaged index: rows are stored that it does not hear of. */
export const past = (index: string, change: string) => `
  UPDATE pg_index SET indisready = false WHERE indexrelid = '${index}'::regclass;
  ${change};
  UPDATE pg_index SET indisready = true WHERE indexrelid = '${index}'::regclass`;
