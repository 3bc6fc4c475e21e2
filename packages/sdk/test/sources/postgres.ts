/** Writes test tables to the PostgreSQL server of the tests. */
import { inject } from 'vitest';
import { loadTable } from './postgresTables.ts';
import type { TestSource } from './testSource.ts';

export const postgresTable: TestSource = {
  name: 'PostgreSQL',
  dialect: 'postgres',
  leastInSql: 0.15,
  lacksNul: true,
  async load(table) {
    const { source, remove } = await loadTable(inject('serverUrl'), table);
    return { where: { source }, remove };
  },
};
