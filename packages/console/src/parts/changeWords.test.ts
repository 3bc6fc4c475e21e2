import { expect, it } from 'vitest';
import { changeWords } from './changeWords.ts';
import { pathOf } from './links.ts';

const said = (kind: Parameters<typeof changeWords>[0]['kind'], version: number, state?: string) => {
  const { what, happened } = changeWords({ kind, version, ...(state && { state }) });
  return `${what} ${happened}`;
};

it('changeWords describes a change by kind, version and state', () => {
  expect(said('MEASUREMENT', 1, 'AWAITING_REQUISITION_FULFILLMENT')).toBe('Measurement is new');
  expect(said('MEASUREMENT', 1, 'COMPUTING')).toBe('Measurement is being computed');
  expect(said('MEASUREMENT', 4, 'SUCCEEDED')).toBe('Measurement is complete');
  expect(said('REQUISITION', 2, 'UNFULFILLED')).toBe('Request waits for an answer');
  expect(said('REPORT', 1, 'PLANNED')).toBe('Report is new');
  expect(said('REPORT', 3, 'COMPLETE')).toBe('Report is complete');
  expect(said('EVENT_GROUP', 1, 'ACTIVE')).toBe('Event group is new');
  expect(said('EVENT_GROUP', 2, 'ACTIVE')).toBe('Event group was changed');
  expect(said('EVENT_GROUP', 3, 'DELETED')).toBe('Event group was deleted');
  expect(said('CERTIFICATE', 2, 'REVOKED')).toBe('Certificate was revoked');
  expect(said('DESCRIPTOR', 2)).toBe('Schema was changed');
  // A newer exchange may have states that this version does not know.
  expect(said('MEASUREMENT', 2, 'PAUSED')).toBe('Measurement was changed');
});

it('pathOf returns the page of a resource for a role', () => {
  expect(pathOf('measurementConsumers/acme/measurements/m1', 'consumer')).toBe('/measurements/m1');
  expect(pathOf('measurementConsumers/acme/measurements/m1/requisitions/r1', 'consumer')).toBe(
    '/measurements/m1',
  );
  expect(pathOf('dataProviders/streamly/requisitions/r1', 'provider')).toBe('/requests/r1');
  expect(pathOf('dataProviders/streamly/eventGroups/e1', 'duchy')).toBeUndefined();
  expect(pathOf('duchies/alpha/certificates/c1', 'duchy')).toBe('/keys');
  expect(pathOf('dataProviders/streamly', 'provider')).toBe('/keys');
});
