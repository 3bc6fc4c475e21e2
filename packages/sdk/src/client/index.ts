export { type Code, ExchangeError, type Reason, type Violation } from '@measurement-exchange/contract';
export { type ClientOptions, createClient } from './client.ts';
export type { Clock } from './clock.ts';
export { isTransient, UnexpectedResponse, Unreachable } from './errors.ts';
export { type Follower, type FollowOptions, followChanges, type Wake } from './follow.ts';
export type { Listing } from './listing.ts';
export { type RetryOnAbortedOptions, retryOnAborted } from './retryOnAborted.ts';
export type { ArgumentsOf, ExchangeClient, ResponseOf } from './types.ts';
export type { WatchArguments } from './watch.ts';
