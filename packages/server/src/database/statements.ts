import type { Reader, Row, Statement } from './roundTrip.ts';

/** The statements of one program, each with a unique name. */
export class Statements {
  readonly all = new Map<string, Statement<unknown>>();

  readonly sql = <R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> =>
    this.add({ name, text, reader });

  /** Declares a statement that finds few rows by key; see lookups.ts. */
  readonly lookup = <R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> =>
    this.add({ name, text, reader, isLookup: true });

  private add<R>(statement: Statement<R>): Statement<R> {
    const { name } = statement;
    // For a second statement of the same name, a connection would run the text of the first one.
    if (this.all.has(name)) throw new Error(`Two statements are named ${name}.`);
    this.all.set(name, statement);
    return statement;
  }
}
