/** Runs the ClickHouse part of docs/quickstart/warehouse.md, exactly as printed. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipped, startClickHouse, type TestServer } from '@measurement-exchange/testkit/clickhouse/server';
import { ROOT } from '@measurement-exchange/testkit/process';
import { useWorld } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DocumentShell, openDocumentShell } from './documentShell.ts';
import { useEnvironment } from './environment.ts';

const DOCUMENT = 'docs/quickstart/warehouse.md';
/**
 * The reason for skipping the test; undefined if the test runs. The test does not use an external server, because the
 * quickstart would leave an account and tables there.
 */
const reason = skipped ?? (process.env.CLICKHOUSE_URL && 'the server of CLICKHOUSE_URL is left as it is');

describe.skipIf(reason !== undefined)(`ClickHouse (${reason ?? 'quickstart'})`, () => {
  const w = useWorld();
  useEnvironment(() => w.exchange);
  let folder: string;
  let server: TestServer;
  let shell: DocumentShell;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mex-clickhouse-'));
    server = await startClickHouse();
    shell = await openDocumentShell(folder, { MEX_DATA_DIR: w.exchange.dataDir, WAREHOUSE: server.url });
    const client = join(folder, 'bin', 'clickhouse');
    const script = join(ROOT, 'packages/cli/test/clickhouseClient.mjs');
    await writeFile(client, `#!/bin/sh\nWAREHOUSE='${server.url}' exec '${process.execPath}' '${script}'\n`);
    await chmod(client, 0o755);
  });
  afterAll(async () => {
    shell?.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('ends with a figure near the truth', async () => {
    const shown = await shell.typed(DOCUMENT, '## ClickHouse');
    expect(shown).toHaveLength(4);
    const answered = shown[3]!;
    expect(answered).toContain('rows 30,000');
    expect(answered).toMatch(/vid +person +UInt64 +0\n/);
    expect(answered).toMatch(/device +string +0 +2\n/);
    expect(answered).toMatch(/autumn +30000 +28 /);
    expect(answered).toContain('fulfilled in');
    const [, reach] = /reach +([\d,]+) +95 %/.exec(answered) ?? [];
    // All 10,000 people saw the campaign on a phone. The noise has a standard deviation of 50, so the limit of 300 is
    // six deviations.
    expect(Math.abs(Number(reach!.replace(',', '')) - 10_000)).toBeLessThan(300);
  });
});
