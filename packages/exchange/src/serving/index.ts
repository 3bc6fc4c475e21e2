/** The parts of the pipeline that the HTTP layer uses. */
export type { ChangeEvent, Watch } from '../operations/index.ts';
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
