/** The schemas that the OpenAPI document lists as components. Each is named after its export. */
export * from '../protocols/protocolConfig.ts';
export * from './certificate.ts';
export * from './common.ts';
export * from './computation.ts';
export * from './descriptor.ts';
export * from './eventGroup.ts';
export * from './exchangeStatus.ts';
export * from './measurement.ts';
export * from './party.ts';
export * from './partyHealth.ts';
export * from './population.ts';
export * from './principal.ts';
export * from './requisition.ts';
export * from './summary.ts';
export * from './timeline.ts';
export * from './trustedRoot.ts';
export * from './webhook.ts';
