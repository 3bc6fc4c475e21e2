import { expect, it } from 'vitest';
import { breakingChanges } from './migrations.ts';

it.each([
  ['ALTER TABLE a ADD COLUMN b text', 0],
  ['ALTER TABLE a ADD COLUMN b integer NOT NULL DEFAULT 1, ADD COLUMN c text', 0],
  ['CREATE TABLE a (b text NOT NULL); ALTER TABLE a DROP CONSTRAINT c; DROP INDEX d', 0],
  ['-- No DROP COLUMN here.\nCREATE INDEX a ON b (c)', 0],
  ['ALTER TABLE a DROP COLUMN b', 1],
  ['DROP TABLE a', 1],
  ['ALTER TABLE a RENAME COLUMN b TO c', 1],
  ['ALTER TABLE a ALTER COLUMN b TYPE bigint', 1],
  ['ALTER TABLE a ALTER b SET NOT NULL', 1],
  ['ALTER TABLE a ADD COLUMN b text NOT NULL', 1],
  ['ALTER TABLE a ADD COLUMN b numeric(10, 2) NOT NULL', 1],
  ['ALTER TABLE a ADD b text NOT NULL', 1],
  ['ALTER TABLE a ADD CONSTRAINT c CHECK (d IS NOT NULL)', 0],
])(
  'the migration "%s" has this many changes that break replicas of the previous version: %i',
  (sql, problems) => {
    expect(breakingChanges(sql)).toHaveLength(problems);
  },
);
