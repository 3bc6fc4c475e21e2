import type { Reader, Row, Statement } from './roundTrip.ts';

/** The statements of one program, each under a name of its own. */
export class Statements {
  readonly all = new Map<string, Statement<unknown>>();

  readonly sql = <R = Row>(name: string, text: string, reader?: Reader<R>): Statement<R> => {
    // A connection would run the first text that was prepared under a name for the second one as well.
    if (this.all.has(name)) throw new Error(`Two statements are named ${name}.`);
    const statement = { name, text, reader };
    this.all.set(name, statement);
    return statement;
  };
}
