/**
 * The commands from which a sequence is drawn. Each command sends requests, compares the responses with the model, and
 * updates the model.
 */
import fc from 'fast-check';
import { Violations } from '../harness.ts';
import { anyInput } from '../inputs.ts';
import { createPath, draft } from '../measurement.ts';
import { apply, type Input } from '../model.ts';
import { Random } from '../random.ts';
import { listing } from './lists.ts';
import { revoking } from './revocation.ts';
import {
  ask,
  type Choice,
  type Command,
  chosen,
  expect,
  freshId,
  type Known,
  know,
  type Real,
  responseOf,
  someExist,
} from './steps.ts';

export function commandsOf(exchanges: number): fc.Arbitrary<Command>[] {
  const at = fc.nat({ max: exchanges - 1 });
  const choice: fc.Arbitrary<Choice> = fc.record({ nth: fc.nat({ max: 9 }), at });
  const act = fc.tuple(choice, fc.nat()).map(([chosen, seed]) => acting(chosen, seed));
  const repeat = fc.tuple(choice, fc.boolean()).map(([chosen, same]) => repeating(chosen, same));
  return [
    fc.tuple(at, fc.nat()).map(([where, seed]) => creating(where, seed)),
    // Commands that act on existing measurements are listed several times, so that they are drawn more often.
    ...[act, act, act, act, act, act],
    ...[repeat, repeat],
    choice.map(strangers),
    ...listing(choice),
    revoking(choice),
  ];
}

function creating(at: number, seed: number): Command {
  return {
    check: () => true,
    toString: () => `create at ${at}`,
    async run(model, real) {
      // Use a new request ID each time, because a sequence runs again when it is shrunk.
      const made = { ...draft(real.world, new Random(seed)), requestId: freshId() };
      const response = await ask(real, at, made.consumer.name, 'POST', createPath(made), made.body);
      expect('create', response.reason, 'OK');
      model.known.push(await know(real, at + 1, made, response));
    },
  };
}

function acting(choice: Choice, seed: number): Command {
  let done = 'act';
  return {
    check: someExist,
    toString: () => `${done} at ${choice.at}`,
    async run(model, real) {
      const known = chosen(model, choice);
      const { subject } = known;
      const input = subject.possible(anyInput(new Random(seed), subject.draft.providers.length));
      done = `${JSON.stringify(input)} on ${subject.name}`;
      await act(known, choice.at, input, real);
    },
  };
}

async function act(known: Known, at: number, input: Input, real: Real): Promise<void> {
  const { subject } = known;
  const response = responseOf(real, await subject.send(real.world, at, input));
  const [next, expected] = apply(known.state, input);
  const violations = new Violations();
  expect(input.kind, subject.read(input, response, violations), expected);
  if (violations.any) throw new Error(violations.found[0]);
  known.state = next;
}

/** Sends the same create request again, or another one with the same requestId. */
function repeating(choice: Choice, same: boolean): Command {
  return {
    check: someExist,
    toString: () => `create ${choice.nth} again${same ? '' : ' with another content'} at ${choice.at}`,
    async run(model, real) {
      const { subject, state } = chosen(model, choice);
      const { draft: made, name } = subject;
      const body = same ? made.body : { ...made.body, measurementReferenceId: 'another' };
      const response = await ask(real, choice.at, made.consumer.name, 'POST', createPath(made), body);
      if (same) {
        expect(
          'a repeated create',
          [response.reason, response.json.name, response.json.state],
          ['OK', name, state.measurement],
        );
        const input: Input = { kind: 'listRequisitions' };
        const listed = responseOf(real, await subject.send(real.world, choice.at, input));
        expect(
          'requisitions after it',
          subject.read(input, listed, new Violations()),
          apply(state, input)[1],
        );
      } else {
        const existing = response.json?.error?.details?.[0]?.metadata?.existing;
        expect('a reused requestId', [response.reason, existing], ['REQUEST_ID_REUSED', name]);
      }
    },
  };
}

/** Checks that callers without the right to see a measurement cannot learn from a response whether it exists. */
function strangers(choice: Choice): Command {
  return {
    check: someExist,
    toString: () => `strangers look at ${choice.nth} at ${choice.at}`,
    async run(model, real) {
      const { subject } = chosen(model, choice);
      const { consumer, providers } = subject.draft;
      const { consumers, providers: all } = real.world;
      const other = consumers.find((party) => party.name !== consumer.name)!.name;
      const absent = `${consumer.name}/measurements/absent`;
      for (const who of [other, providers[0]!.name, all.at(-1)!.name, 'operator']) {
        const seen = await ask(real, choice.at, who, 'GET', subject.name);
        const unseen = await ask(real, choice.at, who, 'GET', absent);
        expect(`${who} at another's measurement`, [seen.status, seen.text], [403, unseen.text]);
      }
      const own = await ask(real, choice.at, consumer.name, 'GET', absent);
      expect('an absent measurement of its own', own.reason, 'MEASUREMENT_NOT_FOUND');
    },
  };
}
