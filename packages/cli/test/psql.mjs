/** Stands in for `psql` in the lines of documents: runs its input on the server that the environment names. */
import { text } from 'node:stream/consumers';
import pg from 'pg';

const client = new pg.Client();
await client.connect();
try {
  await client.query(await text(process.stdin));
} finally {
  await client.end();
}
