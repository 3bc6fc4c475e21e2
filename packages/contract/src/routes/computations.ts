import {
  Computation,
  ConfirmRequest,
  FailRequest,
  FulfillComputationRequisitionRequest,
  LogRequest,
  SetParametersRequest,
  SetResultRequest,
} from '../codecs/computation.ts';
import { Explanation } from '../codecs/explanation.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { COMPUTATION_STATES } from '../values/states.ts';
import { dangling, nextPageToken, noQuery, paging, type Route } from './route.ts';

/** The acts of a participant on its computation. */
const act = {
  method: 'POST',
  path: PATTERNS.computation,
  access: { duchy: 'own' },
  mutates: true,
  query: noQuery,
  response: Computation,
} as const;
const NOT_NOW = ['COMPUTATION_NOT_FOUND', 'COMPUTATION_ETAG_MISMATCH', 'COMPUTATION_STATE_ILLEGAL'] as const;
const CERTIFICATE = [dangling('CERTIFICATE_NOT_FOUND'), 'CERTIFICATE_IS_INVALID'] as const;

export const COMPUTATION_ROUTES = [
  {
    operation: 'listComputations',
    method: 'GET',
    path: 'duchies/{duchy}/computations',
    access: { duchy: 'own' },
    query: s.object({
      ...paging,
      'filter.states': s.optional(
        s.array(s.enumOf(COMPUTATION_STATES)),
        'Only those in one of these states; repeat the parameter.',
      ),
      'filter.updatedAfter': s.optional(s.timestamp(), 'Only those updated after this time, exclusive.'),
    }),
    response: s.object({ computations: s.array(Computation), nextPageToken }),
    errors: [],
    summary: 'List the computations of a duchy, by update time',
  },
  {
    operation: 'getComputation',
    method: 'GET',
    path: PATTERNS.computation,
    access: { duchy: 'own' },
    query: noQuery,
    response: Computation,
    errors: ['COMPUTATION_NOT_FOUND'],
    summary: 'Read a computation',
  },
  {
    operation: 'explainComputation',
    method: 'GET',
    path: PATTERNS.computation,
    verb: 'explain',
    access: { duchy: 'own' },
    query: noQuery,
    response: Explanation,
    errors: ['COMPUTATION_NOT_FOUND'],
    summary: 'What a computation waits for and for whom, or why it ended',
  },
  {
    ...act,
    operation: 'setComputationParameters',
    verb: 'setParameters',
    body: { form: 'message', schema: SetParametersRequest, also: 'name' },
    errors: [...NOT_NOW, ...CERTIFICATE, 'CHECK_FAILED'],
    summary: 'Set what a duchy contributes; when all have, requisitions can be fulfilled',
  },
  {
    ...act,
    operation: 'confirmComputation',
    verb: 'confirm',
    body: { form: 'message', schema: ConfirmRequest, also: 'name' },
    errors: [...NOT_NOW, 'CERTIFICATE_IS_INVALID'],
    summary: 'Confirm that a duchy has all it needs (Liquid Legions)',
  },
  {
    ...act,
    operation: 'fulfillComputationRequisition',
    verb: 'fulfillRequisition',
    body: { form: 'message', schema: FulfillComputationRequisitionRequest, also: 'name' },
    errors: [
      ...NOT_NOW,
      'REQUISITION_NOT_FOUND',
      'REQUISITION_STATE_ILLEGAL',
      'NONCE_MISMATCH',
      'CERTIFICATE_IS_INVALID',
    ],
    summary: "Report that a data provider's data is stored at this duchy",
  },
  {
    ...act,
    operation: 'setComputationResult',
    verb: 'setResult',
    body: { form: 'message', schema: SetResultRequest, also: 'name' },
    errors: [...NOT_NOW, ...CERTIFICATE, 'CHECK_FAILED'],
    summary: 'Set the result (aggregator): the measurement is SUCCEEDED',
  },
  {
    ...act,
    operation: 'failComputation',
    verb: 'fail',
    body: { form: 'message', schema: FailRequest, also: 'name' },
    errors: NOT_NOW,
    summary: 'Give up: the measurement is FAILED',
  },
  {
    ...act,
    operation: 'logComputation',
    verb: 'log',
    body: { form: 'message', schema: LogRequest, also: 'name' },
    errors: ['COMPUTATION_NOT_FOUND', 'COMPUTATION_STATE_ILLEGAL'],
    summary: 'Report progress, for the timeline of the measurement',
  },
] as const satisfies readonly Route[];
