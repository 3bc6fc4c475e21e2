/**
 * The methods that need the party's keys or files. `mex console` serves them on the party's own machine, and a development
 * exchange serves them for its demo parties. Each method is `POST /companion/<method>`, with JSON in and out.
 */
import type { PlainSpec } from '@measurement-exchange/contract';
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

export interface CompanionMethods {
  /** The party that the keys belong to, and the parties that it trusts. */
  about(input: Record<string, never>): About;
  /** The questions that the consumer asked, decrypted and verified, by the name of the measurement. At most 100 names. */
  questions(input: { names: string[] }): Record<string, OpenedQuestion>;
  /** The newest of the consumer's measurements whose decrypted title contains the text. */
  searchTitles(input: { text: string; limit?: number }): FoundTitles;
  /** Plans a measurement and creates nothing. */
  plan(input: { request: MeasurementRequest; assumed?: number }): Plan;
  /**
   * Creates a measurement, unless the consumer would not accept its result. `request.requestId` is required, so that a
   * repeated call creates nothing twice.
   */
  create(input: { request: MeasurementRequest }): { name: string };
  /** The decrypted result, and every step of its verification. */
  result(input: { name: string }): OpenedResult;
  /** The decrypted metadata of the consumer's event groups, as JSON. At most 100 names. */
  eventGroupMetadata(input: { names: string[] }): Record<string, OpenedMetadata>;
  /** The request in a requisition, decrypted with the data provider's key, and every step of its verification. */
  requisition(input: { name: string }): OpenedRequisition;
  /** The data provider's ledger: limit, spent and left, by day, consumer and measurement. */
  budget(input: Record<string, never>): LedgerView<BudgetView>;
  /** The agent's own account of its work. */
  agent(input: Record<string, never>): LedgerView<AgentView>;
}

export type CompanionMethod = keyof CompanionMethods;

/** The JSON body of every response that is not a success. Its HTTP status says whether a repetition may help. */
export interface CompanionErrorBody {
  /** A code such as `FILTER_REJECTED`, or the reason of the exchange's error. */
  reason: string;
  /** A sentence for people. */
  message: string;
  /** See `FilterDetails` and `ExchangeDetails`. */
  details?: unknown;
}

/** The details of `FILTER_REJECTED`. */
export interface FilterDetails {
  filters: {
    dataProvider: string;
    /** Absent for a filter of a population. */
    eventGroup?: string;
    filter: string;
    message: string;
    /** Both numbers start at 1. */
    position?: { line: number; column: number };
    /** A name that the author may have meant. */
    suggestion?: string;
  }[];
}

/** The details of an error that the exchange returned. */
export interface ExchangeDetails {
  violations: { field: string; description: string }[];
  metadata: Record<string, string>;
  requestId?: string;
  retryAfterSeconds?: number;
}

export interface CertificateFacts {
  subject: string;
  /** SHA-256, in hexadecimal with colons. */
  fingerprint: string;
  notBefore: string;
  notAfter: string;
}

export interface About {
  principal: string;
  /** The folder of the keys, or undefined for a demo party. */
  identity?: string;
  /** The certificate that the party signs with. `isOwn` is false if the exchange names one of another key. */
  certificate?: CertificateFacts & { name: string; isOwn: boolean };
  /** A root without a party may issue certificates for every party that has no root of its own. */
  roots: (CertificateFacts & { party?: string })[];
  /** The duchies that the consumer accepts in computations. */
  duchies: string[];
}

/** Both members are absent if no question is stored with the measurement. */
export type OpenedQuestion = { question?: Question; error?: string };

export interface FoundTitles {
  /** Newest first. */
  matches: { name: string; title: string }[];
  /** The number of titles that were searched, starting with the newest. */
  searched: number;
  /** False if older titles are left. Call again to search more of them, until `searched` no longer grows. */
  isComplete: boolean;
}

/** All members are absent if the event group has no metadata. */
export interface OpenedMetadata {
  /** The message as JSON. */
  metadata?: unknown;
  /** The type of the message, such as `type.googleapis.com/acme.Campaign`. */
  typeUrl?: string;
  /** The name of the descriptor that defines the type. */
  descriptor?: string;
  error?: string;
}

export type Plan = Omit<MeasurementPlan, 'create'>;

export interface OpenedResult {
  /** Absent unless the SDK accepts the signatures, certificates, keys and figures. */
  result?: MeasurementResult;
  /** A step may fail although there is a result, for example because a publisher has changed its key since. */
  steps: VerificationStep[];
  /** Why there is no result: it is not complete yet, it failed, or it was rejected. A sentence, and its code. */
  error?: string;
  reason?: string;
}

export interface OpenedRequisition {
  /** Absent if it cannot be decrypted, or if the exchange has removed its contents. */
  spec?: OpenedSpec;
  steps: VerificationStep[];
  /** Why it cannot be shown: a sentence, and its code. */
  error?: string;
  reason?: string;
}

/** The MeasurementSpec and the RequisitionSpec, without keys, hashes and the nonce. */
export interface OpenedSpec {
  /** The parameters that the consumer signed. Absent if they cannot be read. */
  measurement?: SpecFacts;
  /** One part for each event group, or one part without an event group for a population. */
  parts: { eventGroup?: string; interval?: { start: string; end: string }; filter?: string }[];
  /** The cost of an answer with the usual noise, for each reference and day. Absent if nothing is charged for it. */
  charge?: PrivacyAmount;
}

type WithoutKeys<S> = S extends PlainSpec ? Omit<S, 'measurementPublicKey' | 'nonceHashes'> : never;
export type SpecFacts = WithoutKeys<PlainSpec>;

/** The contents of a ledger, or the reason why it is not on this machine. */
export type LedgerView<T> = { ledger: string; view: T } | { missing: string };

export interface BudgetView extends BudgetReport {
  /** Sentences about entries that do not add up. */
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

/** The document at `/console.json`, which says who serves the console. */
export interface ServedBy {
  by: 'mex console' | 'exchange';
  /** The base URL of the exchange's API as the page calls it: empty for the page's own origin. */
  api: string;
  development: boolean;
  version: string;
  /** For `mex console`: the identities on this machine. The page names one in the header `mex-identity`. */
  identities?: {
    id: string;
    principal: string;
    /** Whether the companion can use this identity's keys. */
    keys: boolean;
  }[];
  /** For the exchange: how to sign in. */
  issuers?: {
    issuer: string;
    clientId: string;
    name: string;
    scope?: string;
    /** For the development issuer: the demo parties, each of which needs no password. */
    parties?: { principal: string; displayName: string }[];
  }[];
  /** Whether `/companion/` answers here. */
  companion: boolean;
}
