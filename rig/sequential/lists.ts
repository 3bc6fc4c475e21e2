/**
 * Lists and batches: every row appears once and in a stable order, and page tokens work only for the list that they
 * came from.
 */
import fc from 'fast-check';
import {
  ask,
  type Choice,
  type Command,
  chosen,
  expect,
  type Known,
  type Model,
  type Real,
  someExist,
} from './steps.ts';

export function listing(choice: fc.Arbitrary<Choice>): fc.Arbitrary<Command>[] {
  return [
    fc.tuple(choice, fc.integer({ min: 1, max: 4 })).map(([c, size]) => paging(c, size)),
    choice.map(foreignToken),
    fc
      .tuple(choice, fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 5 }))
      .map(([c, nths]) => batch(c, nths)),
  ];
}

const byConsumer = (model: Model, { subject }: Known) =>
  model.known.filter((known) => known.subject.draft.consumer.name === subject.draft.consumer.name);

/**
 * Returns the path of a list that starts just before the oldest measurement of this sequence, so that measurements of
 * earlier sequences are not listed.
 */
function listPath({ consumer, since, size }: { consumer: string; since: string; size: number }): string {
  const before = new Date(Date.parse(since) - 1).toISOString();
  return `${consumer}/measurements?filter.createdAfter=${before}&pageSize=${size}`;
}

function paging(choice: Choice, size: number): Command {
  return {
    check: someExist,
    toString: () => `list by ${size} at ${choice.at}`,
    async run(model, real) {
      const all = byConsumer(model, chosen(model, choice));
      const consumer = all[0]!.subject.draft.consumer.name;
      const since = all.map(({ createTime }) => createTime).sort()[0]!;
      const path = listPath({ consumer, since, size });
      const seen: { name: string; state: string; createTime: string }[] = [];
      for (let token: string | undefined = ''; token !== undefined; ) {
        const at = (choice.at + seen.length) % real.world.exchanges.length;
        const page = await ask(real, at, consumer, 'GET', `${path}${token && `&pageToken=${token}`}`);
        expect('a page', [page.reason, (page.json.measurements?.length ?? 0) <= size], ['OK', true]);
        const known = new Set(seen.map(({ name }) => name));
        const repeated = page.json.measurements?.find(({ name }: { name: string }) => known.has(name));
        expect('a measurement that comes again', repeated?.name, undefined);
        seen.push(...(page.json.measurements ?? []));
        token = page.json.nextPageToken;
      }
      const order = (a: { createTime: string; name: string }) => `${a.createTime} ${a.name}`;
      expect('the order of a list', seen.map(order), seen.map(order).toSorted());
      const ours = seen.filter(({ name }) => all.some(({ subject }) => subject.name === name));
      const expected = all
        .map(({ subject, state, createTime }) => ({
          name: subject.name,
          state: state.measurement,
          createTime,
        }))
        .sort((a, b) => (order(a) < order(b) ? -1 : 1));
      expect(
        'what a list shows',
        ours.map(({ name, state }) => [name, state]),
        expected.map(({ name, state }) => [name, state]),
      );
    },
  };
}

function foreignToken(choice: Choice): Command {
  return {
    check: (model) => model.known.some((known) => byConsumer(model, known).length > 1),
    toString: () => `a page token elsewhere at ${choice.at}`,
    async run(model, real) {
      const known = model.known.find((one) => byConsumer(model, one).length > 1)!;
      const consumer = known.subject.draft.consumer.name;
      const since = byConsumer(model, known)
        .map(({ createTime }) => createTime)
        .sort()[0]!;
      const path = listPath({ consumer, since, size: 1 });
      const { json } = await ask(real, choice.at, consumer, 'GET', path);
      await rejected(real, choice, consumer, `${path}&filter.states=CANCELLED`, json.nextPageToken);
      const other = real.world.consumers.find(({ name }) => name !== consumer)!.name;
      await rejected(real, choice, other, path.replace(consumer, other), json.nextPageToken);
      const provider = real.world.providers[0]!.name;
      await rejected(real, choice, provider, `${provider}/requisitions?pageSize=1`, json.nextPageToken);
    },
  };
}

async function rejected(real: Real, { at }: Choice, who: string, path: string, token: string): Promise<void> {
  const response = await ask(real, at, who, 'GET', `${path}&pageToken=${token}`);
  expect('a page token elsewhere', response.reason, 'INVALID_PAGE_TOKEN');
}

function batch(choice: Choice, nths: number[]): Command {
  return {
    check: someExist,
    toString: () => `batchGet of ${nths.length} at ${choice.at}`,
    async run(model, real) {
      const all = byConsumer(model, chosen(model, choice));
      const consumer = all[0]!.subject.draft.consumer.name;
      const wanted = nths.map((nth) => all[nth % all.length]!);
      const names = wanted.map(({ subject }) => subject.name);
      const path = `${consumer}/measurements:batchGet`;
      const response = await ask(real, choice.at, consumer, 'POST', path, { names });
      expect(
        'a batch',
        response.json.measurements?.map((m: { name: string; state: string }) => [m.name, m.state]),
        wanted.map(({ subject, state }) => [subject.name, state.measurement]),
      );
      const absent = { names: [...names, `${consumer}/measurements/absent`] };
      const missing = await ask(real, choice.at, consumer, 'POST', path, absent);
      expect('a batch with one missing', missing.reason, 'MEASUREMENT_NOT_FOUND');
    },
  };
}
