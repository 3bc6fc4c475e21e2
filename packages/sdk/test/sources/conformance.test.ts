/**
 * Tests that every source gives the same figures as a plain count in TypeScript, in every world (a table with settings
 * and questions).
 */
import { MAX_VID } from '@measurement-exchange/contract';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { describe, expect, it } from 'vitest';
import { type Events, openEvents } from '../../src/provider/events.ts';
import { questionsFor } from './questions.ts';
import { TEST_SOURCES } from './sources.ts';
import {
  countPlainly,
  type Person,
  type Question,
  queryOf,
  settingsOf,
  tableOf,
  type World,
} from './world.ts';
import { WORLDS } from './worlds.ts';

const CAP = 3;

/** Returns all figures of a question from the source. */
async function figuresOf(events: Events, question: Question) {
  const query = queryOf(question);
  const whole: [bigint, number][] = [];
  await events.allPeople(query, 255, (vids, frequencies) => {
    for (const [i, vid] of vids.entries()) if (frequencies[i]! > 0) whole.push([vid, frequencies[i]!]);
  });
  const small: [number, number][] = [];
  await events.people(query, CAP, (vids, frequencies) => {
    for (const [i, vid] of vids.entries()) if (frequencies[i]! > 0) small.push([vid, frequencies[i]!]);
  });
  return {
    whole: sorted(whole),
    small: sorted(small),
    histogram: await events.frequencies(query, CAP),
    impressions: await events.impressions(query, CAP),
    all: await events.impressions(query, 2 ** 31 - 1),
    millis: await events.watchDurationMillis(query, 2500n),
    allMillis: await events.watchDurationMillis(query, 2n ** 62n),
  };
}

/**
 * Returns the expected figures, computed from the people that the reference implementation counted (see
 * `countPlainly`).
 */
function expectedOf(people: Map<bigint, Person>) {
  const all = [...people];
  const sum = (value: (person: Person) => number | bigint) =>
    all.reduce((total, [, person]) => total + BigInt(value(person)), 0n);
  const isSmall = (vid: bigint) => vid >= 1n && vid <= MAX_VID;
  return {
    whole: sorted(all.map(([vid, { events }]) => [vid, Math.min(events, 255)])),
    small: sorted(all.map(([vid, { events }]) => [isSmall(vid) ? Number(vid) : 0, Math.min(events, CAP)])),
    histogram: Array.from({ length: CAP }, (_, k) =>
      BigInt(all.filter(([, { events }]) => Math.min(events, CAP) === k + 1).length),
    ),
    impressions: sum(({ events }) => Math.min(events, CAP)),
    all: sum(({ events }) => Math.min(events, 2 ** 31 - 1)),
    millis: sum(({ millis }) => (millis < 2500n ? millis : 2500n)),
    allMillis: sum(({ millis }) => millis),
  };
}

const sorted = <V>(pairs: [V, number][]) => pairs.map(([vid, n]) => `${vid} × ${n}`).sort();

/** Computes the inventory that `mex provider check` should show for a world. */
function inventoryOf({ rows }: World) {
  const groups = Map.groupBy(
    rows.filter(({ group }) => group !== null),
    ({ group }) => group!,
  );
  return [...groups].map(([reference, some]) => {
    const days = [
      ...new Set(some.map(({ at }) => new Date(Number(at / 1000n)).toISOString().slice(0, 10))),
    ].sort();
    return { reference, rows: some.length, days: days.length, firstDay: days[0], lastDay: days.at(-1) };
  });
}

describe.each(TEST_SOURCES)('$name', ({ name, skipped, load }) => {
  if (skipped !== undefined) {
    it.skip(`${name}: ${skipped}`, () => {});
    return;
  }
  // Outside of `npm run stress`, test each source with a different tenth of the worlds. Stress runs test every source
  // with all worlds.
  const worlds = WORLDS.map((world, i) => [world.name, world, i] as const).filter(
    ([, , i]) => isStress || i % 10 === TEST_SOURCES.findIndex((source) => source.name === name) % 10,
  );
  it.each(worlds)('returns the expected figures for %s', async (_name, world, i) => {
    const { where, remove } = await load(tableOf(world));
    const events = await openEvents({ ...where, ...settingsOf(world) });
    try {
      await events.verify();
      const all = questionsFor(world);
      // Outside of `npm run stress`, ask the first question, one other question, and the world's own questions in each
      // world. Stress runs ask every question in every world.
      const asked = isStress ? all : [all[0]!, all[i % all.length]!, ...(world.questions ?? [])];
      for (const question of asked) {
        const figures = await figuresOf(events, question);
        expect({ question, ...figures }).toEqual({ question, ...expectedOf(countPlainly(world, question)) });
      }
      expect((await events.inventory()).sort(byReference)).toEqual(inventoryOf(world).sort(byReference));
      const { rows, vids } = await events.overview({ population: [{ start: 1n, end: 10n }] });
      expect(rows).toBe(world.rows.length);
      const distinct = new Set(world.rows.map(({ vid }) => vid).filter((vid) => vid !== null));
      const outside = [...distinct].filter((vid) => vid < 1n || vid > 10n);
      expect(vids[0]).toMatchObject({ people: distinct.size, peopleOutside: outside.length });
    } finally {
      await events.close();
      await remove();
    }
  });
});

const byReference = (a: { reference: string }, b: { reference: string }) =>
  a.reference < b.reference ? -1 : 1;
