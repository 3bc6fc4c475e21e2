/**
 * The main entry point, which starts a complete exchange. The entry points `./config`, `./maintenance`, and
 * `./devIssuer` load less code.
 */
export { demoDuchies, demoProtocols } from './config/duchies.ts';
export { type AddPages, type PageContext, type Running, start } from './main.ts';
export { createLog } from './observability/log.ts';
