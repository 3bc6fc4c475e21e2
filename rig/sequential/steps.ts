/** The resources that commands act on, and steps that several commands use. */
import type fc from 'fast-check';
import { type draft, Subject } from '../measurement.ts';
import { created, type State } from '../model.ts';
import type { HttpResponse, Reply } from '../world/client.ts';
import type { World } from '../world.ts';

export interface Known {
  subject: Subject;
  state: State;
  createTime: string;
}

/** The measurements of this sequence in the order of their creation. */
export interface Model {
  known: Known[];
}

export interface Real {
  world: World;
  operations: number;
}

export type Command = fc.AsyncCommand<Model, Real>;

/** The random choices of a command: the measurement that it uses (`nth`), and the exchange that it calls (`at`). */
export interface Choice {
  nth: number;
  at: number;
}

/** Sends a request. Every request must get a response, because this harness injects no faults. */
export async function ask(real: Real, ...[at, ...request]: Parameters<World['call']>): Promise<HttpResponse> {
  return responseOf(real, await real.world.call(at, ...request));
}

export function responseOf(real: Real, reply: Reply): HttpResponse {
  real.operations++;
  if (reply.kind !== 'response') throw new Error(`no response: ${reply.why}`);
  if (reply.status >= 500) throw new Error(`got ${reply.text}`);
  return reply;
}

export function expect(what: string, actual: unknown, expected: unknown): void {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== e) throw new Error(`${what}: ${a}, where the model expects ${e}`);
}

export function chosen(model: Model, { nth }: Choice): Known {
  return model.known[nth % model.known.length]!;
}

export const someExist = (model: Readonly<Model>) => model.known.length > 0;

let ids = 0;
export function freshId(): string {
  return `sequence-${process.pid}-${++ids}`;
}

/**
 * Reads a new measurement's requisitions at the exchange `next`, and returns the measurement in the form of the model.
 * If `next` is too large, counting continues at the first exchange.
 */
export async function know(
  real: Real,
  next: number,
  made: ReturnType<typeof draft>,
  { json }: HttpResponse,
): Promise<Known> {
  const at = next % real.world.exchanges.length;
  const listed = await ask(real, at, made.consumer.name, 'GET', `${json.name}/requisitions`);
  expect('requisitions of a new measurement', listed.json?.requisitions?.length, made.providers.length);
  const subject = new Subject(made, json.name, listed);
  return { subject, state: created(made.providers.length), createTime: json.createTime };
}
