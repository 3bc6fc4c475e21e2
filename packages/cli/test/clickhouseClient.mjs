/**
 * Stands in for `clickhouse client` in the quickstart: runs the statements of its standard input, one after the other.
 */
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const authorization = `Basic ${Buffer.from('default:').toString('base64')}`;
for (const statement of Buffer.concat(chunks).toString().split(/;\s*$/m)) {
  if (statement.trim() === '') continue;
  const response = await fetch(process.env.WAREHOUSE, {
    method: 'POST',
    headers: { authorization },
    body: statement.trim(),
  });
  if (response.ok) continue;
  console.error(await response.text());
  process.exit(1);
}
