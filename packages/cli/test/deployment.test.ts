/** Compares the deployment files in packaging/ and the Dockerfile with the programs that they start. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { productionProblems, readDuchyConfig } from '@measurement-exchange/duchy';
import { loadConfig } from '@measurement-exchange/exchange/config';
import { SETTINGS } from '@measurement-exchange/exchange/internal/config/settings';
import { requireProductionConfig } from '@measurement-exchange/exchange/production';
import { addStatusPages } from '@measurement-exchange/server/app';
import type { Command } from 'commander';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createMex } from '../src/program.ts';
import { readProviderConfig } from '../src/provider/config.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMPOSE = join(ROOT, 'packaging/compose');
const MEX = ['node', 'packages/cli/src/mex.mjs'];
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  depends_on?: Record<string, unknown>;
  healthcheck?: { test: string[] };
}
interface Container {
  name: string;
  command: string[];
  env?: { name: string; value?: string }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts: { name: string }[];
  [probe: `${string}Probe`]: { httpGet: { path: string; port: string } };
}
interface Manifest {
  kind: string;
  spec: {
    template?: { metadata?: { annotations?: Record<string, string> }; spec: PodSpec };
    ports?: { name: string; targetPort: string }[];
  };
}
interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes: { name: string }[];
}

const compose = parse(textOf('packaging/compose/compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const services = Object.entries(compose.services);
const manifests = ['exchange', 'duchy', 'agent'].flatMap((name) =>
  parseAllDocuments(textOf(`packaging/kubernetes/${name}.yaml`)).map(
    (document) => document.toJS() as Manifest,
  ),
);
const pods = manifests.flatMap(({ spec }) => spec.template ?? []);
const containers = pods.flatMap(({ spec }) => spec.containers);
const units = globSync('packaging/*.service', { cwd: ROOT }).map(
  (file) => [basename(file), textOf(file)] as const,
);
const dockerfile = textOf('Dockerfile');

describe('the deployment files', () => {
  const ofUnit = (text: string) => /^ExecStart=\S*\/(.*)$/m.exec(text)![1]!.split(' ');
  const commands: [string, string[]][] = [
    ...services.flatMap(([name, { command }]) =>
      command?.[0] === 'node' ? [[`compose ${name}`, command] as [string, string[]]] : [],
    ),
    ...containers.map(({ name, command }): [string, string[]] => [`kubernetes ${name}`, command]),
    ...units.map(([name, text]): [string, string[]] => [name, ofUnit(text)]),
    ...[...dockerfile.matchAll(/^CMD (\[.*\])$/gm)].map(([, json]): [string, string[]] => [
      'Dockerfile',
      JSON.parse(json!),
    ]),
  ];

  it.each(commands)('%s runs an existing command of mex with existing options', async (_where, command) => {
    expect(command.slice(0, 2)).toEqual(MEX);
    const words = command.slice(2);
    let found: Command = await createMex(words);
    while (words.length > 0 && !words[0]!.startsWith('-')) {
      const word = words.shift()!;
      found = found.commands.find((each) => each.name() === word)!;
      expect(found, word).toBeDefined();
    }
    for (const flag of words.filter((each) => each.startsWith('-'))) {
      expect(found.options.map(({ long }) => long)).toContain(flag);
    }
  });
});

it('the deployment files set only environment variables that the programs read', () => {
  const ofSettings = Object.values(SETTINGS).flatMap(({ variable }) => variable ?? []);
  const known = new Set([...ofSettings, 'MEX_CONFIG', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS']);
  const used = [
    ...services.flatMap(([name, { environment }]) =>
      name === 'postgres' ? [] : Object.keys(environment ?? {}),
    ),
    ...containers.flatMap(({ env }) => (env ?? []).map(({ name }) => name)),
    ...units.flatMap(([, text]) =>
      [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, all]) => namesIn(all!)),
    ),
    ...[...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, all]) => namesIn(all!)),
  ];
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

const namesIn = (assignments: string) => assignments.split(' ').map((each) => each.split('=')[0]!);

describe('the Kubernetes manifests', () => {
  it('probe only pages that exist, on ports of the container', () => {
    const app = Fastify();
    addStatusPages(app, async () => true, { contentType: 'text/plain', text: async () => '' });
    const probes = containers.flatMap(({ name, ports = [], ...container }) =>
      ['startupProbe', 'livenessProbe', 'readinessProbe'].flatMap((kind) => {
        const { httpGet } = (container as unknown as Container)[kind as 'startupProbe'] ?? {};
        return httpGet ? [{ name, ports: ports.map((port) => port.name), ...httpGet }] : [];
      }),
    );
    expect(probes).toHaveLength(9);
    for (const { ports, path, port } of probes) {
      expect(app.hasRoute({ method: 'GET', url: path }), path).toBe(true);
      expect(ports).toContain(port);
    }
    for (const { metadata } of pods) {
      const { 'prometheus.io/path': path, 'prometheus.io/port': port } = metadata?.annotations ?? {};
      if (path === undefined) continue;
      expect(app.hasRoute({ method: 'GET', url: path }), path).toBe(true);
      expect(
        containers.flatMap(({ ports = [] }) => ports.map((each) => String(each.containerPort))),
      ).toContain(port);
    }
  });

  it('open the ports that the exchange listens on, and each Service targets an open port', () => {
    const exchange = containers.find(({ name }) => name === 'exchange')!;
    const listens = exchange
      .env!.filter(({ name }) => name.endsWith('PORT'))
      .map(({ value }) => Number(value));
    expect(listens).toHaveLength(2);
    expect(exchange.ports!.map(({ containerPort }) => containerPort)).toEqual(listens);
    const opened = new Set(containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)));
    const services = manifests.filter(({ kind }) => kind === 'Service');
    const targets = services.flatMap(({ spec }) => spec.ports!.map(({ targetPort }) => targetPort));
    expect(targets).toEqual(expect.arrayContaining(['https', 'grpc']));
    expect(targets.filter((name) => !opened.has(name))).toEqual([]);
  });

  it('mount only volumes of the pod', () => {
    for (const { spec } of pods) {
      const names = [...spec.volumes.map(({ name }) => name), 'ledger'];
      const mounted = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(
        (each) => each.volumeMounts,
      );
      expect(mounted.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([]);
    }
  });
});

describe('Compose, after prepare.sh', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'mex-compose-'));
    cpSync(COMPOSE, join(folder, 'compose'), { recursive: true });
    cpSync(join(ROOT, 'packaging/observability'), join(folder, 'observability'), { recursive: true });
    prepare();
    // In a deployment, the operators get these secrets from the issuer and add the files.
    for (const party of ['alpha', 'beta', 'gamma', 'agent']) {
      writeFileSync(stateOf(`${party}/client.secret`), 'from the issuer\n', { mode: 0o600 });
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const prepare = () =>
    execFileSync(
      join(folder, 'compose/prepare.sh'),
      ['https://id.example.com', 'measurement-exchange', 'https://id.example.com/jwks.json'],
      {
        env: { ...process.env, MEX: `${process.execPath} ${join(ROOT, MEX[1]!)}` },
        encoding: 'utf8',
        stdio: 'pipe',
      },
    );
  const stateOf = (path: string) => join(folder, 'compose/state', path);
  const duchyConfigOf = (duchy: string) => {
    const { config, problems } = readDuchyConfig(stateOf(`${duchy}/config.json`));
    expect(problems).toEqual([]);
    return config;
  };

  it('production mode accepts the settings of the exchange', () => {
    // The container mounts this folder as /etc/mex, so replace /etc/mex with the path of the folder.
    const config = loadConfig({ MEX_CONFIG: stateOf('exchange/config.json') });
    const inside = JSON.parse(
      JSON.stringify(config).replaceAll('/etc/mex', stateOf('exchange')),
    ) as typeof config;
    const ordinary = Object.assign(Object.create(process), { env: {}, execArgv: [], geteuid: () => 1000 });
    expect(() => requireProductionConfig(inside, ordinary)).not.toThrow();
    expect([inside.port, inside.grpcPort]).toEqual([8080, 8081]);
  });

  it.each(['alpha', 'beta', 'gamma'])('production mode accepts the settings of duchies/%s', (duchy) => {
    const config = duchyConfigOf(duchy);
    const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode;
    expect(productionProblems(config, modeOf)).toEqual([]);
    expect(config.endpoint).toBe(`https://${duchy}:${config.listen.port}`);
  });

  it('the agent accepts its settings', async () => {
    const config = await readProviderConfig(stateOf('agent/config.json'));
    expect(existsSync(join(config.identity!, 'signing-key.pem'))).toBe(true);
  });

  it('mounts files and folders that exist, and publishes ports that the programs listen on', () => {
    const { port, grpcPort } = loadConfig({ MEX_CONFIG: stateOf('exchange/config.json') });
    const listens: Record<string, (number | undefined)[]> = {
      exchange: [port, grpcPort],
      prometheus: [9090],
      grafana: [3000],
    };
    for (const duchy of ['alpha', 'beta', 'gamma']) {
      const { listen, operations } = duchyConfigOf(duchy);
      listens[duchy] = [listen.port, operations.port];
    }
    for (const [name, { volumes = [], ports = [], depends_on = {} }] of services) {
      for (const source of volumes.map((volume) => volume.split(':')[0]!)) {
        if (source.startsWith('.')) expect(existsSync(resolve(folder, 'compose', source)), source).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
      const published = ports.map((port) => Number(port.split(':').at(-1)));
      for (const port of published) expect(listens[name], name).toContain(port);
      if (name === 'exchange') expect(published).toEqual(listens[name]);
      expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
    }
  });

  it('Prometheus scrapes programs at the ports of their settings', async () => {
    const prometheus = parse(textOf('packaging/compose/monitoring/prometheus.yaml')) as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = prometheus.scrape_configs.flatMap(({ static_configs }) => static_configs[0]!.targets);
    const { operations } = await readProviderConfig(stateOf('agent/config.json'));
    const expected = ['alpha', 'beta', 'gamma'].map(
      (duchy) => `${duchy}:${duchyConfigOf(duchy).operations.port}`,
    );
    expect(targets).toEqual(['exchange:8080', ...expected, `agent:${operations!.port}`]);
  });

  it('prepare.sh rejects an existing state folder, and a run without arguments', () => {
    expect(prepare).toThrow('There is a folder ./state');
    expect(() => execFileSync(join(COMPOSE, 'prepare.sh'), { stdio: 'pipe' })).toThrow('usage');
  });
});
