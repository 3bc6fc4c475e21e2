/**
 * A whole exchange. Code that needs only its settings or its database is in `./config`, `./maintenance` and `./dev`.
 */
export { demoDuchies } from './config/duchies.ts';
export { type Running, start } from './main.ts';
export { createLog } from './observability/log.ts';
