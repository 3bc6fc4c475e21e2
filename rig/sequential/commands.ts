/** What the one caller may do next. Each command acts, compares, and moves the model on. */
import fc from 'fast-check';
import { Violations } from '../harness.ts';
import { anyInput } from '../inputs.ts';
import { createPath, draft, Subject } from '../measurement.ts';
import { apply, created, type Input, type State } from '../model.ts';
import { Random } from '../random.ts';
import type { Answer, Reply } from '../world/client.ts';
import type { World } from '../world.ts';
import { listing } from './lists.ts';
import { revoking } from './revocation.ts';

export interface Known {
  subject: Subject;
  state: State;
  createTime: string;
}

/** The measurements of this sequence, in the order they were made. */
export interface Model {
  known: Known[];
}

export interface Real {
  world: World;
  operations: number;
}

export type Command = fc.AsyncCommand<Model, Real>;

/** Whom a command is about, and which exchange it asks. */
export interface Choice {
  nth: number;
  at: number;
}

export function commandsOf(exchanges: number): fc.Arbitrary<Command>[] {
  const at = fc.nat({ max: exchanges - 1 });
  const choice: fc.Arbitrary<Choice> = fc.record({ nth: fc.nat({ max: 9 }), at });
  const act = fc.tuple(choice, fc.nat()).map(([chosen, seed]) => acting(chosen, seed));
  const repeat = fc.tuple(choice, fc.boolean()).map(([chosen, same]) => repeating(chosen, same));
  return [
    fc.tuple(at, fc.nat()).map(([where, seed]) => creating(where, seed)),
    // Most of what happens happens to measurements that exist.
    ...[act, act, act, act, act, act],
    ...[repeat, repeat],
    choice.map(strangers),
    ...listing(choice),
    revoking(choice),
  ];
}

/** Never without an answer: nobody makes faults here. */
export async function ask(real: Real, ...[at, ...request]: Parameters<World['call']>): Promise<Answer> {
  return answered(real, await real.world.call(at, ...request));
}

export function answered(real: Real, reply: Reply): Answer {
  real.operations++;
  if (reply.kind !== 'answer') throw new Error(`no answer: ${reply.why}`);
  if (reply.status >= 500) throw new Error(`answered ${reply.text}`);
  return reply;
}

export function expect(what: string, actual: unknown, expected: unknown): void {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== e) throw new Error(`${what}: ${a}, where the model says ${e}`);
}

export function chosen(model: Model, { nth }: Choice): Known {
  return model.known[nth % model.known.length]!;
}

export const someExist = (model: Readonly<Model>) => model.known.length > 0;

function creating(at: number, seed: number): Command {
  return {
    check: () => true,
    toString: () => `create at ${at}`,
    async run(model, real) {
      // IDs of requests may not repeat when a sequence is run again to shrink it.
      const made = { ...draft(real.world, new Random(seed)), requestId: freshId() };
      const answer = await ask(real, at, made.consumer.name, 'POST', createPath(made), made.body);
      expect('create', answer.reason, 'OK');
      model.known.push(await know(real, at + 1, made, answer));
    },
  };
}

let ids = 0;
export function freshId(): string {
  return `sequence-${process.pid}-${++ids}`;
}

/** As read at the next exchange. */
export async function know(
  real: Real,
  next: number,
  made: ReturnType<typeof draft>,
  { json }: Answer,
): Promise<Known> {
  const at = next % real.world.exchanges.length;
  const listed = await ask(real, at, made.consumer.name, 'GET', `${json.name}/requisitions`);
  expect('requisitions of a new measurement', listed.json?.requisitions?.length, made.providers.length);
  const subject = new Subject(made, json.name, listed);
  return { subject, state: created(made.providers.length), createTime: json.createTime };
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
  const answer = answered(real, await subject.send(real.world, at, input));
  const [next, expected] = apply(known.state, input);
  const violations = new Violations();
  expect(input.kind, subject.read(input, answer, violations), expected);
  if (violations.any) throw new Error(violations.found[0]);
  known.state = next;
}

/** The same request again, or another one under the same requestId. */
function repeating(choice: Choice, same: boolean): Command {
  return {
    check: someExist,
    toString: () => `create ${choice.nth} again${same ? '' : ' with another content'} at ${choice.at}`,
    async run(model, real) {
      const { subject, state } = chosen(model, choice);
      const { draft: made, name } = subject;
      const body = same ? made.body : { ...made.body, measurementReferenceId: 'another' };
      const answer = await ask(real, choice.at, made.consumer.name, 'POST', createPath(made), body);
      if (same) {
        expect(
          'a repeated create',
          [answer.reason, answer.json.name, answer.json.state],
          ['OK', name, state.measurement],
        );
        const input: Input = { kind: 'listRequisitions' };
        const listed = answered(real, await subject.send(real.world, choice.at, input));
        expect(
          'requisitions after it',
          subject.read(input, listed, new Violations()),
          apply(state, input)[1],
        );
      } else {
        const existing = answer.json?.error?.details?.[0]?.metadata?.existing;
        expect('a reused requestId', [answer.reason, existing], ['REQUEST_ID_REUSED', name]);
      }
    },
  };
}

/** To who may not see it, what exists and what does not look the same. */
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
