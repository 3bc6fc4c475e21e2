/**
 * The package's main entry point, which starts a complete exchange. The entry points `./config`, `./maintenance`, and
 * `./devIssuer` load only parts of the exchange.
 */
export { demoDuchies, demoProtocols } from './config/duchies.ts';
export { type AddPages, type PageContext, type Running, start } from './main.ts';
export { createLog } from './observability/log.ts';
