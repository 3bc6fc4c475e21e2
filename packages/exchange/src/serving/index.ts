/** The parts of the request pipeline that servers use. */
export type { ChangeEvent, Watch } from '../operations/index.ts';
export { BodyMemory } from './bodyMemory.ts';
export { type Credentials, credentialsIn } from './credentials.ts';
export type { Outcome, Progress } from './observe.ts';
export {
  type Authenticated,
  type Authorized,
  internalError,
  type Pipeline,
  type Transfer,
} from './pipeline.ts';
export { type Quota, rateLimited } from './rateLimiter.ts';
export type { OpenStream } from './streams.ts';
