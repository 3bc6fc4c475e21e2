import type { Reader, Row, Statement } from './roundTrip.ts';

/** The statements of one program, each under a name of its own. */
export class Statements {
  readonly all = new Map<string, Statement<unknown>>();

  readonly sql = <R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> =>
    this.add({ name, text, reader });

  /** For a statement that finds few rows by key: see lookups.ts. */
  readonly lookup = <R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> =>
    this.add({ name, text, reader, isLookup: true });

  private add<R>(statement: Statement<R>): Statement<R> {
    const { name } = statement;
    // A connection would run the first text that was prepared under a name for the second one as well.
    if (this.all.has(name)) throw new Error(`Two statements are named ${name}.`);
    this.all.set(name, statement);
    return statement;
  }
}
