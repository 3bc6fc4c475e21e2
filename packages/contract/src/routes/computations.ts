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
import * as row from './route.ts';

const computation = { path: PATTERNS.computation, access: { duchy: 'own' } } as const;
const act = { ...row.ACT, ...computation, response: Computation } as const;
const NOT_NOW = ['COMPUTATION_NOT_FOUND', 'COMPUTATION_ETAG_MISMATCH', 'COMPUTATION_STATE_ILLEGAL'] as const;
const CERTIFICATE = [row.dangling('CERTIFICATE_NOT_FOUND'), 'CERTIFICATE_IS_INVALID'] as const;

export const COMPUTATION_ROUTES = [
  {
    ...row.LIST,
    operation: 'listComputations',
    path: 'duchies/{duchy}/computations',
    access: { duchy: 'own' },
    query: s.object({
      ...row.paging,
      'filter.states': s.optional(s.array(s.enumOf(COMPUTATION_STATES)), row.STATES),
      'filter.updatedAfter': s.optional(s.timestamp(), row.UPDATED_AFTER),
      orderBy: s.optional(
        s.enumOf(['updateTime', 'updateTime desc']),
        'The earliest or the latest change first. Default: the earliest first.',
      ),
    }),
    response: s.object({ computations: s.array(Computation), nextPageToken: row.nextPageToken }),
    summary: 'List the computations of a duchy, by update time',
  },
  {
    ...row.READ,
    ...computation,
    operation: 'getComputation',
    response: Computation,
    errors: ['COMPUTATION_NOT_FOUND'],
    summary: 'Read a computation',
  },
  {
    ...row.READ,
    ...computation,
    operation: 'explainComputation',
    verb: 'explain',
    response: Explanation,
    errors: ['COMPUTATION_NOT_FOUND'],
    summary: 'What a computation waits for and for whom, or why it ended',
  },
  {
    ...act,
    operation: 'setComputationParameters',
    verb: 'setParameters',
    body: row.message(SetParametersRequest),
    errors: [...NOT_NOW, ...CERTIFICATE, 'CHECK_FAILED'],
    summary: 'Set what a duchy contributes; when all have, requisitions can be fulfilled',
  },
  {
    ...act,
    operation: 'confirmComputation',
    verb: 'confirm',
    body: row.message(ConfirmRequest),
    errors: [...NOT_NOW, 'CERTIFICATE_IS_INVALID'],
    summary: 'Confirm that a duchy has all it needs (Liquid Legions)',
  },
  {
    ...act,
    operation: 'fulfillComputationRequisition',
    verb: 'fulfillRequisition',
    body: row.message(FulfillComputationRequisitionRequest),
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
    body: row.message(SetResultRequest),
    errors: [...NOT_NOW, ...CERTIFICATE, 'CHECK_FAILED'],
    summary: 'Set the result (aggregator): the measurement is SUCCEEDED',
  },
  {
    ...act,
    operation: 'failComputation',
    verb: 'fail',
    body: row.message(FailRequest),
    errors: NOT_NOW,
    summary: 'Give up: the measurement is FAILED',
  },
  {
    ...act,
    operation: 'logComputation',
    verb: 'log',
    body: row.message(LogRequest),
    errors: ['COMPUTATION_NOT_FOUND', 'COMPUTATION_STATE_ILLEGAL'],
    summary: 'Report progress, for the timeline of the measurement',
  },
] as const satisfies readonly row.Route[];
