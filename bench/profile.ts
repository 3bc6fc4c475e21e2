/**
 * Shows which functions use the exchange's processor time. Runs the exchange with `node --cpu-prof` under load. Adds up
 * the samples by function and by place (a dependency or a part of our packages).
 * Run: node bench/profile.ts [--operation get] [--grpc] [--seconds 6] [--connections 32] [--top 25]
 */

import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { grpcPortOf, processorMs, startExchange } from './lib/exchange.ts';
import type { Generator } from './lib/generator.ts';
import { measuredOperations } from './lib/operations.ts';
import { startServer } from './lib/postgres.ts';
import { startWorker } from './lib/processes.ts';
import { printTable } from './lib/report.ts';
import { rpcOperations, rpcsOf } from './lib/rpcOperations.ts';
import { createWorld } from './lib/world.ts';

interface Profile {
  nodes: {
    id: number;
    callFrame: { functionName: string; url: string; lineNumber: number };
    children?: number[];
  }[];
  samples: number[];
  timeDeltas: number[];
}

const { values: options } = parseArgs({
  options: {
    operation: { type: 'string', default: 'get' },
    grpc: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '32' },
    top: { type: 'string', default: '25' },
  },
});

const folder = await mkdtemp(join(tmpdir(), 'mex-bench-profile-'));
const server = await startServer();
const generator = await startWorker<Generator>('generator.ts');
try {
  const database = await server.createDatabase();
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const exchange = await startExchange({ databaseUrl: database.url, flags });
  const world = await createWorld(exchange, database);
  const operation = (await measuredOperations(world, database)).find(({ name }) =>
    name.startsWith(options.operation),
  );
  if (operation === undefined) throw new Error(`There is no operation ${options.operation}.`);
  const { caller, template, consumes } = operation;
  const load = {
    items: await operation.items(Number(options.seconds) * 1_000),
    ...(!consumes && { seconds: Number(options.seconds) }),
  };
  const connections = Number(options.connections);
  const before = processorMs(exchange.pid);
  const started = performance.now();
  const timing = options.grpc
    ? await generator.call('rpcs', {
        port: grpcPortOf(exchange),
        streams: connections,
        rpcs: rpcsOf(caller, rpcOperations(world)[operation.name]!, load.items),
        ...load,
      })
    : await generator.call('closed', {
        targets: [{ port: exchange.port, token: caller.token }],
        connections,
        template,
        ...load,
      });
  const spent = processorMs(exchange.pid) - before;
  await exchange.stop();
  const ended = performance.now();
  const [file] = globSync('*.cpuprofile', { cwd: folder });
  summarise(JSON.parse(await readFile(join(folder, file!), 'utf8')), ended - started);
  console.log(
    `\n${operation.name}: ${timing.responses} responses, ${(spent / timing.responses).toFixed(3)} ms of processor time each`,
  );
  await database.drop();
} finally {
  await generator.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/**
 * Prints the functions and places that use the most processor time, and our own functions with all that they call. A
 * place is a dependency, or an entry of the `src` folder of a package. Counts only samples of the last `milliseconds`
 * of the profile, because earlier samples belong to the start and the setup.
 */
function summarise({ nodes, samples, timeDeltas }: Profile, milliseconds: number): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const [functions, places, callers] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  const add = (map: Map<string, number>, key: string, ms: number) => map.set(key, (map.get(key) ?? 0) + ms);
  let busy = 0;
  let left = timeDeltas.reduce((sum, delta) => sum + delta, 0) / 1000;
  samples.forEach((id, i) => {
    const ms = timeDeltas[i]! / 1000;
    left -= ms;
    const { functionName } = byId.get(id)!.callFrame;
    if (left > milliseconds || functionName === '(idle)') return;
    busy += ms;
    add(functions, nameOf(id), ms);
    add(places, placeOf(fileOf(id)) || functionName, ms);
    const above = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) above.add(nameOf(at));
    for (const name of above) if (name.includes(' packages/')) add(callers, name, ms);
  });
  function fileOf(id: number): string {
    return byId.get(id)!.callFrame.url.replace(/^file:\/\/.*\/(packages|node_modules)\//, '$1/');
  }
  function nameOf(id: number): string {
    const { functionName, lineNumber } = byId.get(id)!.callFrame;
    return `${functionName || '(anonymous)'} ${fileOf(id)}:${lineNumber + 1}`;
  }
  const rows = (map: Map<string, number>, name: string) =>
    [...map]
      .sort((a, b) => b[1] - a[1])
      .slice(0, Number(options.top))
      .map(([key, ms]) => ({ [name]: key, '%': ((ms / busy) * 100).toFixed(1) }));
  printTable('Self time by place', rows(places, 'place'));
  printTable('Self time by function', rows(functions, 'function'));
  printTable('Our own functions with all that they call', rows(callers, 'function'));
}

function placeOf(file: string): string {
  const dependency = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  return dependency ?? /packages\/[^/]+\/src\/[^/]+/.exec(file)?.[0] ?? file.split('/')[0]!;
}
