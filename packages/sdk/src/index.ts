/** The SDK of the Measurement Exchange, as far as it runs in a browser too. */

export * from './client/index.ts';
export * from './consent.ts';
export * from './consumer/index.ts';
export * from './identity/credentials.ts';
export * from './privacy.ts';
export * from './refusals/codes.ts';
export * from './verification/index.ts';
