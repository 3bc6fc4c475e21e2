import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { measurementRequest, startExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import { castOf } from '@measurement-exchange/testkit/steps';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
const PROGRAM = fileURLToPath(new URL('program.ts', import.meta.url));

let exchange: TestExchange;
let directory: string;

beforeAll(async () => {
  exchange = await startExchange();
  directory = await mkdtemp(join(tmpdir(), 'mex-generated-'));
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  await copyFile(PROGRAM, join(directory, 'program.ts'));
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  const types = await openapiTS(await (await fetch(`${exchange.url}/openapi.json`)).text());
  await writeFile(join(directory, 'schema.ts'), astToString(types));
});
afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  expect(await exchange.stop()).toEqual([]);
});

describe('a client generated from /openapi.json by a public generator', () => {
  it('compiles in strict mode with the types of requests, responses and errors', async () => {
    const strict = [
      '--strict',
      '--noUncheckedIndexedAccess',
      '--exactOptionalPropertyTypes',
      '--skipLibCheck',
    ];
    const modules = [
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--allowImportingTsExtensions',
      '--noEmit',
    ];
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const checked = promisify(execFile)(tsc, [...strict, ...modules, 'program.ts'], { cwd: directory });
    expect(await checked.catch(({ stdout }) => stdout)).toMatchObject({ stdout: '' });
  });

  it('creates, lists and reads measurements, and receives the reason of a failed request', async () => {
    const { acme, streamly, chirper } = castOf(exchange);
    const { run } = await import(/* @vite-ignore */ pathToFileURL(join(directory, 'program.ts')).href);
    const result = await run({
      baseUrl: exchange.url,
      token: acme.token,
      measurementConsumer: acme.name.split('/')[1],
      measurement: measurementRequest(acme, [streamly, chirper]),
    });
    const { name } = result;
    expect(result).toEqual({
      name: expect.stringMatching(`^${acme.name}/measurements/`),
      state: 'AWAITING_REQUISITION_FULFILLMENT',
      listed: [name],
      finished: [],
      read: { [streamly.name]: expect.anything(), [chirper.name]: expect.anything() },
      failure: ['MEASUREMENT_NOT_FOUND', `${acme.name}/measurements/absent`],
      fields: expect.arrayContaining(['measurementConsumerCertificate', 'dataProviders']),
    });
  });
});
