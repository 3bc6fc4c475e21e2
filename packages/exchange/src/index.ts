/** A whole exchange. The entries `./config`, `./maintenance` and `./devIssuer` load only a part of it. */
export { demoDuchies } from './config/duchies.ts';
export { type Running, start } from './main.ts';
export { createLog } from './observability/log.ts';
