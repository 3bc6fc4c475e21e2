/**
 * The methods of the companion, which need the party's keys or files. `mex console` serves these methods on the party's
 * own machine, and a development exchange serves them for its demo parties. Each method is `POST /companion/<method>`,
 * with JSON in and out.
 */
import type { PlainSpec, ReportState, Violation } from '@measurement-exchange/contract';
import type { ReportDefinition } from '@measurement-exchange/reports';
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
  ConfirmedReference,
  HeldQuestion,
  PrivacyAmount,
  RejectedUpload,
  ResponseCounts,
  StoredResponse,
} from '@measurement-exchange/sdk/provider';
import type { PlanView, ProgressView, ReportView } from '../reports/types.ts';

/**
 * The companion and the page keep verified data for only five minutes, because a certificate may be revoked or a root
 * may be removed after the verification.
 */
export const VERIFIED_MS = 5 * 60_000;

export interface CompanionMethods {
  about(input: Record<string, never>): About;
  /** Returns the consumer's questions, decrypted and verified, by measurement name. Accepts at most 100 names. */
  questions(input: { names: string[] }): Record<string, OpenedQuestion>;
  /** Returns the newest measurements whose title contains the text. An empty text matches every title. */
  searchTitles(input: { text: string; limit?: number }): FoundTitles;
  plan(input: { request: MeasurementRequest; assumed?: number }): Plan;
  /**
   * Creates a measurement. Fails and creates nothing if the consumer would reject every result, for example because the
   * consumer does not trust a duchy. `request.requestId` is required, so that a repeated call does not create a second
   * measurement.
   */
  create(input: { request: MeasurementRequest }): { name: string };
  result(input: { name: string }): OpenedResult;
  /** Returns the decrypted metadata of the consumer's event groups, as JSON. Accepts at most 100 names. */
  eventGroupMetadata(input: { names: string[] }): Record<string, OpenedMetadata>;
  /** Plans a report, and computes its cost. Nothing is sent to publishers. */
  planReport(input: { definition: unknown }): PlannedReportView;
  /**
   * Stores a report and returns its name. Storing the same definition again returns the same name, unless the report
   * was deleted.
   */
  createReport(input: { definition: unknown }): { name: string };
  /**
   * Starts to create the measurements that a report still needs, and returns immediately. `report` returns the
   * progress.
   */
  runReport(input: { name: string }): Record<string, never>;
  report(input: { name: string }): OpenedReport;
  /** Returns the definitions of reports, decrypted. Accepts at most 100 names. */
  reportDefinitions(input: { names: string[] }): Record<string, OpenedDefinition>;
  exportReport(input: { name: string; format: ReportFormat }): { text: string };
  requisition(input: { name: string }): OpenedRequisition;
  /** Returns the spent and remaining budget in the provider's ledger, by day, consumer and measurement. */
  budget(input: Record<string, never>): LedgerView<BudgetView>;
  agent(input: Record<string, never>): LedgerView<AgentView>;
}

export type CompanionMethod = keyof CompanionMethods;

/** The JSON body of an error response. The HTTP status tells whether a retry may help. */
export interface CompanionErrorBody {
  /** A code such as `FILTER_REJECTED`, or the reason of the exchange's error. */
  reason: string;
  message: string;
  /**
   * `FilterDetails` for the reason `FILTER_REJECTED`, and `ExchangeDetails` for an error of the exchange. Other reasons
   * have other details, such as the name of the measurement, or no details.
   */
  details?: unknown;
}

export interface FilterDetails {
  filters: {
    dataProvider: string;
    /** Absent if the filter is for a population. */
    eventGroup?: string;
    filter: string;
    message: string;
    /** Both numbers start at 1. */
    position?: { line: number; column: number };
    /** A known name that is similar to an unknown name in the filter. */
    suggestion?: string;
  }[];
}

export interface ExchangeDetails {
  violations: { field: string; description: string }[];
  metadata: Record<string, string>;
  requestId?: string;
  retryAfterSeconds?: number;
}

export interface CertificateFacts {
  subject: string;
  /** The SHA-256 hash of the certificate, in hexadecimal with colons. */
  fingerprint: string;
  notBefore: string;
  notAfter: string;
}

export interface About {
  principal: string;
  /** The folder of the keys, or undefined for a demo party. */
  identity?: string;
  /**
   * The party's signing certificate at the exchange. `isOwn` is false if the certificate does not contain the public
   * key that belongs to the party's private key.
   */
  certificate?: CertificateFacts & { name: string; isOwn: boolean };
  /**
   * The trusted roots. A root without a party is allowed to issue certificates for every party that has no root of its
   * own.
   */
  roots: (CertificateFacts & { party?: string })[];
  /** The duchies that the consumer accepts in computations. */
  duchies: string[];
}

/** Both members are absent if the measurement has no stored question. */
export type OpenedQuestion = { question?: Question; error?: string };

export interface FoundTitles {
  /** Newest first. */
  matches: { name: string; title: string }[];
  /** The number of titles that were searched, starting with the newest. */
  searched: number;
  /**
   * False if older titles remain. Another call can search more of them, until the companion has searched the maximum
   * number of titles.
   */
  isComplete: boolean;
}

/** All members are absent if the event group has no metadata. */
export interface OpenedMetadata {
  metadata?: unknown;
  typeUrl?: string;
  descriptor?: string;
  error?: string;
}

export type Plan = Omit<MeasurementPlan, 'create'>;

export interface OpenedResult {
  /** Present only if the SDK accepted the signatures, certificates, keys and figures. */
  result?: MeasurementResult;
  /**
   * A step may fail even if there is a result. For example, a publisher may have changed its key after the measurement.
   */
  steps: VerificationStep[];
  /** Why there is no result. `error` is a readable message, and `reason` is its code. */
  error?: string;
  reason?: string;
}

/** Either the plan, or the problems of the definition. Each problem names the path of the invalid field. */
export interface PlannedReportView {
  plan?: PlanView;
  problems?: Violation[];
}

export interface OpenedReport {
  definition: ReportDefinition;
  state: ReportState;
  createTime: string;
  /** True while this machine runs the report. */
  isRunning: boolean;
  progress?: ProgressView;
  /** Why the last run on this machine ended early. */
  error?: string;
  /** The current figures. Absent before the first run, and while the report runs on this machine. */
  view?: ReportView;
}

export type OpenedDefinition = { definition?: ReportDefinition; error?: string };
export type ReportFormat = 'csv' | 'json' | 'html';

export interface OpenedRequisition {
  /** Absent if the request cannot be decrypted, or if the exchange has removed it. */
  spec?: OpenedSpec;
  steps: VerificationStep[];
  /** Why the request cannot be shown. `error` is a readable message, and `reason` is its code. */
  error?: string;
  reason?: string;
}

/** The consumer's request from the MeasurementSpec and the RequisitionSpec, without keys, hashes, or the nonce. */
export interface OpenedSpec {
  /** The parameters that the consumer signed. Absent if they cannot be read. */
  measurement?: SpecFacts;
  /** The interval and filter of each event group. A population measurement has one entry, without an event group. */
  parts: { eventGroup?: string; interval?: { start: string; end: string }; filter?: string }[];
  /**
   * The expected charge to the privacy budget, for each day and each event group reference (the provider's ID of an
   * event group). Absent if the response costs nothing, the spec cannot be decoded, or a verification step failed.
   */
  charge?: PrivacyAmount;
}

type WithoutKeys<S> = S extends PlainSpec ? Omit<S, 'measurementPublicKey' | 'nonceHashes'> : never;
export type SpecFacts = WithoutKeys<PlainSpec>;

/** The contents of a ledger, or a message that explains why the ledger is not available on this machine. */
export type LedgerView<T> = { ledger: string; view: T } | { missing: string };

export interface BudgetView extends BudgetReport {
  /** Messages about inconsistent entries in the ledger. */
  faults: string[];
}

export interface AgentView {
  agent?: AgentStatus;
  responses: ResponseCounts;
  /** Newest first. */
  lastResponses: StoredResponse[];
  heldQuestions: HeldQuestion[];
  rejectedUploads: RejectedUpload[];
  confirmedReferences: ConfirmedReference[];
}

/** The document at `/console.json`. It describes the server of the console. */
export interface ServedBy {
  by: 'mex console' | 'exchange';
  /** The base URL of the exchange's API. Empty if the API has the same origin as the page. */
  api: string;
  development: boolean;
  version: string;
  /**
   * The identities on this machine. Only `mex console` sets this field. The page sends the chosen ID in the header
   * `mex-identity`.
   */
  identities?: {
    id: string;
    principal: string;
    keys: boolean;
  }[];
  /** The issuers with which users can sign in. Only an exchange sets this field. */
  issuers?: {
    issuer: string;
    clientId: string;
    name: string;
    scope?: string;
    /** The demo parties, which sign in without a password. Only the development issuer has this field. */
    parties?: { principal: string; displayName: string }[];
  }[];
  companion: boolean;
}
