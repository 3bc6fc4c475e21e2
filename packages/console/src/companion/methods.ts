/**
 * The methods that need the party's keys or files. `mex console` serves them on the party's own machine, and a development
 * exchange serves them for its demo parties. Each method is `POST /companion/<method>`, with JSON in and out.
 */
import type {
  MeasurementPlan,
  MeasurementRequest,
  MeasurementResult,
  Question,
  VerificationStep,
} from '@measurement-exchange/sdk';
import type {
  AgentStatus,
  BudgetReport,
  HeldQuestion,
  RejectedUpload,
  ResponseCounts,
  StoredResponse,
} from '@measurement-exchange/sdk/provider';

export interface CompanionMethods {
  /** The party's own certificate, and the roots and duchies that it trusts. */
  about(input: Record<string, never>): About;
  /** The questions that the consumer asked, decrypted and verified, by the name of the measurement. At most 100 names. */
  questions(input: { names: string[] }): Record<string, OpenedQuestion>;
  /** The newest of the consumer's measurements whose decrypted title contains the text. */
  searchTitles(input: { text: string; limit?: number }): { name: string; title: string }[];
  /** Plans a measurement and creates nothing. */
  plan(input: { request: MeasurementRequest; assumed?: number }): Plan;
  /** Creates a measurement. `request.requestId` is required, so that a repeated call creates nothing twice. */
  create(input: { request: MeasurementRequest }): { name: string };
  /** The decrypted result, and every step of its verification. The result is absent if a step failed. */
  result(input: { name: string }): OpenedResult;
  /** The consumer's event groups with their decrypted metadata, as JSON. */
  eventGroupMetadata(input: { names: string[] }): Record<string, OpenedMetadata>;
  /** The request in a requisition, decrypted with the data provider's key, and every step of its verification. */
  requisition(input: { name: string }): OpenedRequisition;
  /** The data provider's ledger: limit, spent and left, by day, consumer and measurement. */
  budget(input: Record<string, never>): LedgerView<BudgetReport>;
  /** The agent's own account of its work. */
  agent(input: Record<string, never>): LedgerView<AgentView>;
}

export type CompanionMethod = keyof CompanionMethods;

/** The names of all methods. The server accepts no others. */
export const COMPANION_METHODS = [
  'about',
  'questions',
  'searchTitles',
  'plan',
  'create',
  'result',
  'eventGroupMetadata',
  'requisition',
  'budget',
  'agent',
] as const satisfies readonly CompanionMethod[];

export interface About {
  principal: string;
  /** The folder of the keys, or undefined for a demo party. */
  identity?: string;
  certificate?: { subject: string; fingerprint: string; notAfter: string };
  roots: { party?: string; subject: string; fingerprint: string; notAfter: string }[];
  /** The duchies that the consumer accepts in computations. */
  duchies: string[];
}

export type OpenedQuestion = { question?: Question; error?: string };

export type OpenedMetadata = { metadata?: unknown; error?: string };

export type Plan = Omit<MeasurementPlan, 'create'>;

export interface OpenedResult {
  result?: MeasurementResult;
  steps: VerificationStep[];
  /** Why there is no result. */
  error?: string;
}

export interface OpenedRequisition {
  /** The MeasurementSpec and the RequisitionSpec as JSON, as `mex requisitions show` prints them. */
  spec?: unknown;
  steps: VerificationStep[];
  error?: string;
}

/** The contents of a ledger, or the reason why this machine has no ledger. */
export type LedgerView<T> = { ledger: string; view: T } | { missing: string };

export interface AgentView {
  agent?: AgentStatus;
  responses: ResponseCounts;
  lastResponses: StoredResponse[];
  heldQuestions: HeldQuestion[];
  rejectedUploads: RejectedUpload[];
}

/** The document at `/console.json`, which says who serves the console. */
export interface ServedBy {
  by: 'mex console' | 'exchange';
  /** The base URL of the exchange's API as the page calls it: empty for the page's own origin. */
  api: string;
  development: boolean;
  version: string;
  /** For `mex console`: the identities on this machine. The page names one in the header `mex-identity`. */
  identities?: { id: string; principal: string }[];
  /** For the exchange: how to sign in. */
  issuers?: { issuer: string; clientId: string; name: string; scope?: string }[];
  /** Whether `/companion/` answers here. */
  companion: boolean;
}
