/** Tests that the schema dump beside the migrations is current. */
import { createDuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { printSchema } from '@measurement-exchange/testkit/schemaDump';
import { expect, test } from 'vitest';

test('the migrated schema matches src/database/schema.sql', async () => {
  const database = await createDuchyDatabase();
  const dump = await printSchema(database.query);
  await database.drop();
  await expect(dump).toMatchFileSnapshot('../../src/database/schema.sql');
});
