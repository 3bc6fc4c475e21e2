/** Every planted bug. One that nothing finds is a hole in the rig. */
import type { PlantedBug } from './plant.ts';

/** Planted code that needs more than a line imports it from here. */
const CODE = `import('${new URL('code.ts', import.meta.url).href}')`;

const exchange = (file: string, find: string, replace: string) => ({
  file: `exchange/src/${file}`,
  find,
  replace,
});

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'no-parent-lock',
    edits: [
      exchange('database/measurements.ts', 'AND id = $2 FOR UPDATE', 'AND id = $2'),
      exchange('database/measurements.ts', 'AND id = $2) FOR UPDATE', 'AND id = $2)'),
    ],
    foundBy: 'H2',
  },
  {
    name: 'etag-from-time',
    edits: [
      exchange(
        'domain/measurement.ts',
        "etagOf({ id, version }: Pick<RequisitionRecord, 'id' | 'version'>): string {",
        'etagOf({ id, updateTime }: RequisitionRecord): string { const version = updateTime.slice(0, 19);',
      ),
    ],
    foundBy: 'H1',
  },
  {
    name: 'etag-outside-transaction',
    edits: [
      exchange('domain/measurement.ts', 'requireEtag(requisition, etag);', ''),
      ...['fulfillDirect', 'refuse'].map((verb) =>
        exchange(
          `operations/requisitions/${verb}.ts`,
          'return mutate(',
          `await (await ${CODE}).checkEtagBefore(arguments[0].db, arguments[2]);\n  return mutate(`,
        ),
      ),
    ],
    foundBy: 'H2',
  },
  {
    name: 'request-id-not-unique',
    edits: [],
    relax: {
      statements: [
        'DROP INDEX measurements_request_id',
        'CREATE INDEX measurements_request_id ON measurements (consumer, request_id)',
      ],
      ignoredChecks: ['index-damaged'],
    },
    foundBy: 'H2',
  },
  {
    name: 'withdraw-overwrites-fulfilled',
    edits: [
      exchange(
        'domain/measurement.ts',
        "['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'],",
        "['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'], ['requisition', 'withdrawn', 'FULFILLED', 'WITHDRAWN'],",
      ),
      exchange(
        'domain/measurement.ts',
        "if (r.state === 'UNFULFILLED') this.stepRequisition(r, 'withdrawn');",
        "if (r.state !== 'REFUSED') this.stepRequisition(r, 'withdrawn', { fulfillment: undefined });",
      ),
    ],
    relax: {
      statements: ['DROP TRIGGER terminal_state ON requisitions'],
      ignoredChecks: ['trigger-off'],
    },
    foundBy: 'H1',
  },
  {
    name: 'answer-before-commit',
    edits: [exchange('database/db.ts', 'await tx.done();', 'tx.done().catch(() => {});')],
    foundBy: 'H2',
  },
  {
    name: 'retry-after-unknown-commit',
    edits: [
      exchange(
        'database/db.ts',
        "return state === '40001' || state === '40P01';",
        `if (!(error instanceof ExchangeError) && /^(undefined|08|57P)/.test(String(state))) return true;
         return state === '40001' || state === '40P01';`,
      ),
    ],
    foundBy: 'H8',
  },
  {
    name: 'page-token-unbound',
    edits: [exchange('operations/paging.ts', 'const text = JSON.stringify(scope);', "const text = '';")],
    foundBy: 'H1',
  },
  {
    name: 'nonce-through-number',
    edits: [
      exchange(
        'operations/requisitions/fulfillDirect.ts',
        'nonce: body.nonce,',
        'nonce: BigInt(Number(body.nonce)),',
      ),
    ],
    foundBy: 'H1',
  },
  {
    name: 'foreign-certificate',
    edits: [
      exchange(
        'operations/requisitions/fulfillDirect.ts',
        'named.dataProvider !== params.dataProvider',
        'false',
      ),
      exchange(
        'operations/requisitions/fulfillDirect.ts',
        '{ party: provider, id: named.certificate }',
        "{ party: partyName('dataProvider', named.dataProvider), id: named.certificate }",
      ),
    ],
    relax: {
      statements: ['ALTER TABLE requisitions DROP CONSTRAINT requisitions_provider_result_certificate_fkey'],
      ignoredChecks: [],
    },
    foundBy: 'H1',
  },
  {
    // Who may not see a resource learns whether it exists.
    name: 'lookup-before-authorization',
    edits: [
      exchange('http/api.ts', 'pipeline.authorize(caller, match)', 'await pipeline.authorize(caller, match)'),
      exchange(
        'serving/pipeline.ts',
        '  authorize(caller: Authenticated',
        '  async authorize(caller: Authenticated',
      ),
      exchange(
        'serving/pipeline.ts',
        'authorize(principal, match.route, match.params);',
        `if (match.route.method === 'GET' && Object.keys(match.params).length > 0) {
           const { readRequest } = await import('@measurement-exchange/contract');
           const operation = operations[match.route.operation as Operation] as Handler<never>;
           const request = readRequest(match.route, match.params, '', undefined);
           await operation(this.options.exchange, undefined as never, request as never);
         }
         authorize(principal, match.route, match.params);`,
      ),
    ],
    foundBy: 'H1',
  },
  {
    name: 'synchronous-commit-off',
    edits: [],
    relax: {
      statements: [
        'ALTER SYSTEM SET synchronous_commit = off',
        // The longest there is between two writes of the log.
        "ALTER SYSTEM SET wal_writer_delay = '10s'",
        'SELECT pg_reload_conf()',
      ],
      ignoredChecks: ['settings-unsafe'],
    },
    foundBy: 'H6',
  },
  {
    name: 'read-cache',
    edits: [
      exchange(
        'operations/measurements/get.ts',
        'return readMeasurement(exchange.db, consumer, params.measurement);',
        `return ${CODE}.then(({ cached }) =>
           cached(params.measurement, () => readMeasurement(exchange.db, consumer, params.measurement)));`,
      ),
    ],
    foundBy: 'H2',
  },
  {
    name: 'second-requisition-on-retry',
    edits: [
      exchange(
        'operations/measurements/create.ts',
        'const existing = await replay(',
        `await (await ${CODE}).addSecondRequisition(tx, earlier.id, exchange.newId());
        const existing = await replay(`,
      ),
      exchange(
        'operations/measurements/create.ts',
        'return { view: () => existing };',
        'return { save: () => {}, view: () => existing };',
      ),
    ],
    relax: {
      statements: ['ALTER TABLE requisitions DROP CONSTRAINT requisitions_measurement_provider_key'],
      ignoredChecks: ['index-damaged'],
    },
    foundBy: 'H1',
  },
  {
    name: 'authorization-logged',
    edits: [
      exchange(
        'serving/pipeline.ts',
        'const failures =',
        'Object.assign(progress, { authorization }); const failures =',
      ),
      exchange(
        'serving/observe.ts',
        'ms: ms && Math.round(ms * 100) / 100,',
        'ms: ms && Math.round(ms * 100) / 100, authorization: (progress as never as Record<string, string>).authorization,',
      ),
    ],
    foundBy: 'H1',
  },
];

export function bugNamed(name: string | undefined): PlantedBug {
  const bug = PLANTED_BUGS.find((bug) => bug.name === name);
  if (bug !== undefined) return bug;
  throw new Error(`There is no bug ${name}, only ${PLANTED_BUGS.map(({ name }) => name).join(', ')}.`);
}
