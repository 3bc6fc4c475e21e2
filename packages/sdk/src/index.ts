/** The part of the SDK that runs in browsers as well as in Node. */
export * from '@measurement-exchange/mpc';
export * from './client/index.ts';
export * from './consent.ts';
export * from './consumer/index.ts';
export * from './identity/credentials.ts';
export * from './refusals/codes.ts';
export * from './verification/index.ts';
