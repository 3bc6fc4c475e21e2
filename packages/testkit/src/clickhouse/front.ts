/**
 * A ClickHouse server in a separate process: chDB behind the parts of ClickHouse's HTTP interface that
 * `@clickhouse/client` needs. chDB runs one statement at a time, and can stop a statement only between two chunks of
 * its response.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChdbQueryStream, loadChdb } from './engine.ts';

/** The accounts by name. A reader cannot change data. */
const ACCOUNTS: Record<string, { password: string; isReader: boolean }> = {
  default: { password: '', isReader: false },
  reader: { password: 'reads/only?&', isReader: true },
};
const TAG = 'exceptiontag0000';
const MAX_HEADERS = 4 * 1024 * 1024;
/**
 * The request parameters that ClickHouse's HTTP interface itself interprets. Every other parameter belongs to the
 * statement: as a query parameter if its name starts with `param_`, or else as a setting.
 */
const OWN = new Set(['query', 'query_id', 'database', 'session_id', 'role', 'default_format']);

interface Statement {
  id: string;
  sql: string;
  settings: [name: string, value: string][];
  parameters: [name: string, value: string][];
}

const [, , folder, library] = process.argv as [string, string, string, string];
const session = new (loadChdb(library).Session)(folder);
/** The statements that wait or run, by query ID. */
const open = new Map<string, { killed: boolean; stream?: ChdbQueryStream }>();
let last: Promise<unknown> = Promise.resolve();

const server = createServer({ maxHeaderSize: MAX_HEADERS }, (request, response) => {
  respond(request, response).catch((error: Error) => fail(response, error));
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/ping') return void response.end('Ok.\n');
  const account = accountOf(request);
  const statement = await statementOf(request);
  if (addAccount(statement.sql)) return void response.end();
  if (/^\s*KILL QUERY/.test(statement.sql)) return kill(statement, response);
  if (/FROM system\.processes\b/.test(statement.sql)) return processes(response);
  const job = { killed: false };
  open.set(statement.id, job);
  response.on('close', () => {
    job.killed = true;
  });
  const turn = last.then(() => run(statement, account.isReader, response, job));
  last = turn.catch(() => {}).finally(() => open.delete(statement.id));
  await turn;
}

function accountOf({ headers }: IncomingMessage) {
  const [, encoded = ''] = headers.authorization?.split(' ') ?? [];
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':');
  const account = ACCOUNTS[user];
  if (account?.password === password.join(':')) return account;
  throw new Error(`Code: 516. DB::Exception: ${user}: Authentication failed. (AUTHENTICATION_FAILED)`);
}

/**
 * Handles statements about accounts here, because chDB has only one account. Each account that CREATE USER adds can
 * read every table. Grants, profiles and the removal of accounts have no effect. Returns false if the statement is not
 * about accounts.
 */
function addAccount(sql: string): boolean {
  const [, user, password] = /^\s*CREATE USER (\w+) IDENTIFIED BY '([^']*)'/.exec(sql) ?? [];
  if (user !== undefined) ACCOUNTS[user] = { password: password!, isReader: true };
  return user !== undefined || /^\s*(?:CREATE SETTINGS PROFILE|DROP USER|GRANT)\b/.test(sql);
}

async function statementOf(request: IncomingMessage): Promise<Statement> {
  const { searchParams } = new URL(request.url!, 'http://front');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const fields = [...searchParams];
  const type = request.headers['content-type'] ?? '';
  let body = '';
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form) fields.push([name, String(value)]);
  } else body = Buffer.concat(chunks).toString();
  const isParameter = ([name]: [string, string]) => name.startsWith('param_');
  return {
    id: searchParams.get('query_id') ?? crypto.randomUUID(),
    sql: [searchParams.get('query') ?? '', body].filter(Boolean).join('\n'),
    settings: fields.filter((field) => !isParameter(field) && !OWN.has(field[0])),
    parameters: fields.filter(isParameter),
  };
}

async function run(
  { sql, settings, parameters }: Statement,
  isReader: boolean,
  response: ServerResponse,
  job: { killed: boolean; stream?: ChdbQueryStream },
): Promise<void> {
  if (job.killed) return void response.destroy();
  const [, select, format] = /^(\s*(?:SELECT|WITH|SHOW)\b.*?)\s*FORMAT (\w+)\s*$/s.exec(sql) ?? [];
  if (select === undefined) {
    if (isReader) throw new Error('Code: 497. DB::Exception: Not enough privileges. (ACCESS_DENIED)');
    session.query(sql);
    return void response.end();
  }
  for (const [name, value] of parameters) session.query(`SET ${name} = ${quoted(value)}`);
  const all = isReader ? [...settings, ['readonly', '2']] : settings;
  const list = all.map(([name, value]) => `${name} = ${settingText(value!)}`).join(', ');
  // Send SHOW statements without streaming, because chDB can stream only SELECT statements.
  if (select.trimStart().startsWith('SHOW')) return void response.end(session.query(select, format));
  const stream = session.queryStream(list === '' ? select : `${select}\nSETTINGS ${list}`, {
    format: format!,
  });
  job.stream = stream;
  const gone = once(response, 'close');
  try {
    for await (const chunk of stream) {
      if (job.killed) break;
      if (!response.headersSent) response.writeHead(200, { 'X-ClickHouse-Exception-Tag': TAG });
      if (!response.write(chunk.raw())) await Promise.race([once(response, 'drain'), gone]);
    }
    if (job.killed) throw new Error('Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)');
    response.end();
  } finally {
    stream.cancel();
  }
}

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;
/** Returns a setting's value as SQL. Numbers get no quotes, because chDB does not accept a quoted number. */
const settingText = (text: string) => (/^\d+$/.test(text) ? text : quoted(text));

function kill({ parameters }: Statement, response: ServerResponse): void {
  const job = open.get(parameters.find(([name]) => name === 'param_id')?.[1] ?? '');
  if (job) job.killed = true;
  response.end();
}

/** Answers a query of system.processes with the statements that wait or run. */
function processes(response: ServerResponse): void {
  const data = [...open.keys()].map((id) => [id]);
  response.end(JSON.stringify({ meta: [{ name: 'query_id', type: 'String' }], data, rows: data.length }));
}

function fail(response: ServerResponse, { message }: Error): void {
  if (!response.headersSent) {
    const code = /Code: (\d+)/.exec(message)?.[1] ?? '1002';
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': code }).end(message);
    return;
  }
  // Write the exception into the body, as ClickHouse does after a status of 200.
  const length = Buffer.byteLength(message);
  response.end(`\r\n__exception__\r\n${TAG}\r\n${message}\r\n${length} ${TAG}\r\n__exception__\r\n`);
}
