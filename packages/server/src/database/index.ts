/** The PostgreSQL client that the exchange and the duchies use. */
export { Database, type DatabaseObserver, type DatabaseOptions, type SessionOptions } from './database.ts';
export { sqlState, translate, uniqueViolation } from './errors.ts';
export { query, type Row, type Statement, sendTogether } from './roundTrip.ts';
export { cell, object, optionalCell, type Reader, type RowSource } from './rowReader.ts';
export { Statements } from './statements.ts';
export type { Queryable, Transaction } from './transaction.ts';
