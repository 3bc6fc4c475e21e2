/** Runs a whole report, then searches the database, the logs and the responses to other parties for its secrets. */
import { createHash } from 'node:crypto';
import { decodeMeasurementSpec } from '@measurement-exchange/contract';
import type { ReportDefinition } from '@measurement-exchange/reports';
import { stored } from '@measurement-exchange/testkit/steps';
import { fulfillWith, impression, type Party, reach, useWorld } from '@measurement-exchange/testkit/world';
import { beforeAll, expect, it } from 'vitest';
import type { ReportAnswer } from '../../src/index.ts';

const w = useWorld({ logLevel: 'trace' });

/**
 * The figures that the providers report, and the words of the report definition. Nothing else contains them, so each
 * one that the search finds is a leak.
 */
const REACH = 7_654_321n;
const IMPRESSIONS = 98_765_432n;
const WORDS = ['Springtime for the board', 'zebrafish', 'aardvark', 'quokka', 'narwhals'];
const [TITLE, FILTER_VALUE, SEGMENT, OTHER_SEGMENT, SET] = WORDS as [string, string, string, string, string];

let definition: ReportDefinition;
let answer: ReportAnswer;
let everything: string;

beforeAll(async () => {
  const groups: string[] = [];
  for (const provider of [w.streamly, w.chirper]) {
    const body = { measurementConsumer: w.acme.name, eventGroupReferenceId: 'spring' };
    groups.push((await provider.client.createEventGroup({ parent: provider.name, body })).name!);
  }
  definition = {
    title: TITLE,
    interval: { start: '2026-01-05', end: '2026-01-19', timeZone: 'UTC' },
    segments: {
      [SEGMENT]: { eventGroups: [groups[0]!], filter: `device == "${FILTER_VALUE}"` },
      [OTHER_SEGMENT]: { eventGroups: [groups[1]!] },
    },
    sets: { [SET]: SEGMENT },
    figures: [
      { metric: 'reach', of: [SEGMENT], periods: 'weekly(MONDAY)', cumulative: true },
      { metric: 'impressions', of: [SEGMENT, OTHER_SEGMENT] },
    ],
    budget: { epsilon: 4 },
  };
  answer = await runReport();
  everything = `${JSON.stringify(await stored(w.exchange))}\n${(await w.exchange.logs()).join('\n')}`;
});

async function runReport(): Promise<ReportAnswer> {
  const { name } = await w.consumer.reports.create(definition);
  const ending = new AbortController();
  const answering = (async () => {
    while (!ending.signal.aborted) {
      for (const provider of [w.streamly, w.chirper]) await answerWaiting(provider);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  try {
    return await w.consumer.reports.run(name);
  } finally {
    ending.abort();
    await answering;
  }
}

async function answerWaiting(provider: Party): Promise<void> {
  const waiting = provider.client.listRequisitions({
    parent: provider.name,
    'filter.states': ['UNFULFILLED'],
  });
  for (const { measurement, measurementSpec } of await Array.fromAsync(waiting)) {
    const decoded = decodeMeasurementSpec(measurementSpec!.message);
    if ('error' in decoded) throw new Error(decoded.error);
    const isReach = decoded.spec.measurementType === 'REACH';
    await fulfillWith(provider, measurement!, isReach ? reach(REACH) : impression(IMPRESSIONS));
  }
}

/**
 * Returns the forms in which a text may be stored: plain, in hexadecimal as PostgreSQL prints bytes, and in base64 at
 * each of the three possible alignments.
 */
function formsOf(text: string): string[] {
  const base64 = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    return bytes.toString('base64').slice(before === 0 ? 0 : 4, -4);
  });
  return [text, Buffer.from(text).toString('hex'), ...base64.filter((form) => form.length >= 8)];
}

function found(secrets: string[], within: string): string[] {
  return secrets.filter((secret) => formsOf(secret).some((form) => within.includes(form)));
}

/**
 * Lists the secrets of a report: the words of its definition, its figures, the keys of the measurements that it needs,
 * and hashes that could confirm a guess of the definition or the title.
 */
function secretsOf({ plan, document, stored: { definition } }: ReportAnswer): string[] {
  const figures = document.figures.flatMap(({ estimate }) => [
    estimate!.value,
    estimate!.raw ?? estimate!.value,
  ]);
  const hashed = [JSON.stringify(definition), TITLE].flatMap((text) =>
    (['sha256', 'sha1', 'md5'] as const).map((kind) => createHash(kind).update(text).digest('hex')),
  );
  return [
    ...WORDS,
    ...[REACH, IMPRESSIONS].map(String),
    ...figures.map(String).filter((text) => text.length >= 6),
    ...plan.needs.map(({ key }) => key),
    ...hashed,
  ];
}

it('a report runs and is stored with its answer, and the search finds texts that are present', async () => {
  expect(answer.document.state).toBe('COMPLETE');
  const resource = await w.acme.client.getReport({ name: answer.stored.name });
  expect(resource.measurements!.length).toBeGreaterThanOrEqual(3);
  const present = [
    answer.stored.name,
    resource.measurements![0]!.measurement,
    resource.measurements![0]!.key,
    Buffer.from(resource.sealedAnswer!.ciphertext).toString('hex'),
  ];
  for (const text of present) expect(everything).toContain(text);
  const hidden = ['x', 'xy', 'xyz'].map((before) => Buffer.from(`${before}${TITLE}!?`).toString('base64'));
  for (const text of hidden) expect(found([TITLE], text)).toEqual([TITLE]);
  expect(found([TITLE], `\\x00${Buffer.from(TITLE).toString('hex')}`)).toEqual([TITLE]);
});

it('no word, figure, key or hash of a report is in the database or in the logs of the exchange', () => {
  const secrets = secretsOf(answer);
  expect(secrets.length).toBeGreaterThan(15);
  expect(found(secrets, everything)).toEqual([]);
});

it('another consumer and the operator get 403 for a report, and providers see none of its secrets', async () => {
  const { name, measurements } = await w.acme.client.getReport({ name: answer.stored.name });
  const { measurementConsumers, operator } = w.exchange.dev;
  const others = { globex: measurementConsumers[1]!.token, operator: operator.token };
  const measured = measurements![0]!.measurement;
  for (const [who, token] of Object.entries(others)) {
    const [report, measurement] = await Promise.all(
      [name, measured].map((path) => w.exchange.call(token, 'GET', `/v2alpha/${path}`)),
    );
    expect([who, report!.status], report!.text).toEqual([who, 403]);
    expect(report!.text).toBe(measurement!.text);
  }
  for (const provider of [w.streamly, w.chirper]) {
    const requisitions = await Array.fromAsync(provider.client.listRequisitions({ parent: provider.name }));
    const { changes } = await provider.client.listChanges({ parent: provider.name, from: 'OLDEST' });
    const seen = JSON.stringify({ requisitions, changes }, (_, value) =>
      typeof value === 'bigint'
        ? String(value)
        : value instanceof Uint8Array
          ? Buffer.from(value).toString('hex')
          : value,
    );
    expect(changes.map(({ kind }) => kind)).not.toContain('REPORT');
    const keys = measurements!.map(({ key }) => key);
    expect(found([...secretsOf(answer), name!.split('/').at(-1)!, ...keys], seen)).toEqual([]);
  }
});
