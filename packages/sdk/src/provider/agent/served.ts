/**
 * Decides whether an event group reference is served. A reference is the value that selects an event group's events in
 * the provider's data. A reference is served if the operator declared or confirmed that the data contains the
 * reference. A requisition for any other reference is held, because a misconfigured reference would select no events
 * and produce a signed result near zero. The agent never looks for a reference in the events. Such a search would
 * reveal, without a charge to the privacy budget, whether any events have the reference.
 */
import type { Selection } from '../verify/selection.ts';
import { Deferred } from './deferral.ts';
import type { AgentOptions } from './options.ts';

/**
 * Thrown if the operator has neither declared nor confirmed that the data contains a selected event group reference.
 */
export class NotServed extends Deferred {
  override readonly name = 'NotServed';
  readonly references: readonly string[];

  constructor(references: readonly string[]) {
    const names = references.map((reference) => JSON.stringify(reference)).join(', ');
    super(
      `Nobody has confirmed that the events have the reference ${names}: look at them with mex provider check, and ` +
        'confirm it (--confirm), or correct the event group.',
      'The provider has to confirm its set-up first.',
    );
    this.references = references;
  }
}

/**
 * Returns a function that decides whether a reference is served, that is, whether the operator declared or confirmed
 * that the data contains the reference. The function calls `isConfirmed` each time, so that a confirmation takes effect
 * immediately.
 */
export function createIsServed(
  { references, served }: Pick<AgentOptions, 'references' | 'served'>,
  isConfirmed: (reference: string) => boolean,
) {
  const isDeclared = (reference: string) =>
    references !== 'unchecked' &&
    Object.hasOwn(references, reference) &&
    references[reference]!.served === true;
  return (reference: string): boolean =>
    isDeclared(reference) || served?.has(reference) === true || isConfirmed(reference);
}

export function requireServed({ events = [] }: Selection, isServed: (reference: string) => boolean): void {
  const others = new Set(events.map(({ reference }) => reference).filter((each) => !isServed(each)));
  if (others.size > 0) throw new NotServed([...others]);
}
