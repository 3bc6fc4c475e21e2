/**
 * Code that the servers of the exchange and the duchies share. The entry point `./app` is separate, because it loads
 * Fastify.
 */
export { COMMON_HEADERS, JSON_TYPE, sendClientError } from './clientErrors.ts';
export { callerError } from './errors.ts';
export { type Address, type Listening, listenAt, NO_SCHEMAS } from './listen.ts';
export { MetricsRegistry } from './metrics.ts';
export {
  applyMigrations,
  type Migration,
  readMigrations,
  type SchemaState,
  schemaState,
} from './migrations.ts';
export { proxyRangeProblems } from './proxies.ts';
export { jittered, messageOf, type RepeatOptions, repeat, Waker } from './repeat.ts';
export { SECRETS_KEY_BYTES, Secrets } from './secrets.ts';
