/** Entry point of the SDK for browsers and Node. */
export * from '@measurement-exchange/mpc';
export * from './client/index.ts';
export * from './consent.ts';
export * from './consumer/index.ts';
export * from './identity/credentials.ts';
export * from './refusals/codes.ts';
export * from './verification/index.ts';
