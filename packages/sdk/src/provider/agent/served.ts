/**
 * Which references the provider's data serves: those that its operator declared or confirmed. A question about another
 * one is held, since it may be a mistake of set-up, which would be answered with a signed figure near zero. The events
 * themselves do not decide it: an answer that depends on whether a reference has rows tells of one person for free.
 */

import type { References, Selection } from '../verify/selection.ts';
import { Deferred } from './deferral.ts';

/** A selected reference is neither declared nor confirmed. */
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

export interface ServedOptions {
  references: References | 'unchecked';
  /** References that the caller says are served. */
  served?: ReadonlySet<string> | undefined;
  /** Those that the operator confirmed. */
  isConfirmed(reference: string): boolean;
}

/** Whether a reference is served; it is asked again each time, since the operator may confirm it meanwhile. */
export function createIsServed({ references, served, isConfirmed }: ServedOptions) {
  const isDeclared = (reference: string) =>
    references !== 'unchecked' &&
    Object.hasOwn(references, reference) &&
    references[reference]!.served === true;
  return (reference: string): boolean =>
    isDeclared(reference) || served?.has(reference) === true || isConfirmed(reference);
}

/** Throws NotServed where one of the selected references is not. */
export function requireServed({ events = [] }: Selection, isServed: (reference: string) => boolean): void {
  const others = new Set(events.map(({ reference }) => reference).filter((each) => !isServed(each)));
  if (others.size > 0) throw new NotServed([...others]);
}
