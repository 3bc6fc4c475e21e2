import { describe, expect, it } from 'vitest';
import { REASONS, type Reason } from '../errors/reasons.ts';
import type { Route } from '../routes/route.ts';
import { ROUTES } from '../routes.ts';
import { errorsOf } from './errors.ts';

const routes = ROUTES as readonly Route[];

function reasonsOf(operation: string): string[] {
  const route = routes.find((row) => row.operation === operation)!;
  return errorsOf(route).map(({ reason, httpStatus }) => `${httpStatus} ${reason}`);
}

describe('the errors of a route', () => {
  it('have distinct reasons', () => {
    for (const route of routes) {
      const reasons = errorsOf(route).map(({ reason }) => reason);
      expect(reasons, route.operation).toHaveLength(new Set(reasons).size);
    }
  });

  it('depend on its caller, its path, its query and its body', () => {
    expect(reasonsOf('whoAmI')).not.toContain('403 PERMISSION_DENIED');
    expect(reasonsOf('whoAmI')).not.toContain('400 MALFORMED_NAME');
    expect(reasonsOf('whoAmI')).not.toContain('413 BODY_TOO_LARGE');
    expect(reasonsOf('cancelMeasurement')).toContain('403 PERMISSION_DENIED');
    expect(reasonsOf('cancelMeasurement')).toContain('400 MALFORMED_NAME');
    expect(reasonsOf('cancelMeasurement')).toContain('413 BODY_TOO_LARGE');
    expect(reasonsOf('cancelMeasurement')).not.toContain('400 REQUIRED_FIELD_NOT_SET');
    expect(reasonsOf('refuseRequisition')).toContain('400 REQUIRED_FIELD_NOT_SET');
    // The fields of an update are optional, but a value inside an update may have required fields.
    expect(reasonsOf('updateParty')).toContain('400 REQUIRED_FIELD_NOT_SET');
    expect(reasonsOf('listMeasurements')).toContain('400 INVALID_PAGE_TOKEN');
    expect(reasonsOf('getMeasurement')).not.toContain('400 INVALID_PAGE_TOKEN');
    expect(reasonsOf('createMeasurement')).toContain('409 REQUEST_ID_REUSED');
    expect(reasonsOf('createCertificate')).not.toContain('409 REQUEST_ID_REUSED');
  });

  it('have the HTTP status that their reason has on this route', () => {
    expect(reasonsOf('getCertificate')).toContain('404 CERTIFICATE_NOT_FOUND');
    expect(reasonsOf('createMeasurement')).toContain('400 CERTIFICATE_NOT_FOUND');
  });
});

describe('a reason', () => {
  it('is returned by an operation, except for six reasons of routing, duchies and gRPC', () => {
    const given = new Set(routes.flatMap((route) => errorsOf(route).map(({ reason }) => reason)));
    const without = (Object.keys(REASONS) as Reason[]).filter((reason) => !given.has(reason));
    expect(without).toEqual([
      'SPEC_NOT_PROTOBUF',
      'UPLOAD_MISMATCH',
      'ROUTE_NOT_FOUND',
      'STAGE_OUT_OF_ORDER',
      'UPLOAD_ALREADY_EXISTS',
      'METHOD_NOT_ALLOWED',
    ]);
  });
});
