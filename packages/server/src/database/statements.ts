import type { Row, Statement } from './roundTrip.ts';
import type { Reader } from './rowReader.ts';

export class Statements {
  readonly all = new Map<string, Statement<unknown>>();

  readonly sql = <R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> =>
    this.add({ name, text, reader });

  /** Declares a statement that finds a few rows by key. See lookups.ts. */
  readonly lookup = <R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> =>
    this.add({ name, text, reader, isLookup: true });

  private add<R>(statement: Statement<R>): Statement<R> {
    const { name } = statement;
    // Reject duplicate names: a connection would run the first statement's text for both statements.
    if (this.all.has(name)) throw new Error(`Two statements are named ${name}.`);
    this.all.set(name, statement);
    return statement;
  }
}
