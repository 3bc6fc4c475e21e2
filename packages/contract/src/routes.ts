/**
 * The table of all routes: every operation with its path, schemas and allowed callers. The exchange serves these
 * routes, clients call them, and the OpenAPI document is generated from them. A route without `access` does not
 * compile.
 */

import { API_KEY_ROUTES } from './routes/apiKeys.ts';
import { CERTIFICATE_ROUTES } from './routes/certificates.ts';
import { CHANGE_ROUTES } from './routes/changes.ts';
import { COMPUTATION_ROUTES } from './routes/computations.ts';
import { DESCRIPTOR_ROUTES } from './routes/descriptors.ts';
import { EVENT_GROUP_ROUTES } from './routes/eventGroups.ts';
import { MEASUREMENT_ROUTES } from './routes/measurements.ts';
import { OPERATOR_ROUTES } from './routes/operator.ts';
import { PARTY_ROUTES } from './routes/parties.ts';
import { POPULATION_ROUTES } from './routes/populations.ts';
import { REPORT_ROUTES } from './routes/reports.ts';
import type { Route } from './routes/route.ts';
import { WEBHOOK_ROUTES } from './routes/webhooks.ts';
import type { Vars } from './values/names.ts';

export const API_PREFIX = '/v2alpha';

export const ROUTES = [
  ...MEASUREMENT_ROUTES,
  ...REPORT_ROUTES,
  ...COMPUTATION_ROUTES,
  ...CHANGE_ROUTES,
  ...DESCRIPTOR_ROUTES,
  ...EVENT_GROUP_ROUTES,
  ...CERTIFICATE_ROUTES,
  ...PARTY_ROUTES,
  ...POPULATION_ROUTES,
  ...WEBHOOK_ROUTES,
  ...API_KEY_ROUTES,
  ...OPERATOR_ROUTES,
] as const;

export type Routes = (typeof ROUTES)[number];
export type Operation = Routes['operation'];
/** The routes of one operation. */
export type RouteOf<O extends Operation> = Extract<Routes, { operation: O }>;
/** The IDs in a route's path. */
export type ParamsOf<R extends Route> = R extends Route ? Record<Vars<R['path']>, string> : never;
