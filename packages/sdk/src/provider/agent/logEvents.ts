import type { RequisitionState } from '@measurement-exchange/contract';

/** A log event of the agent. */
export type AgentEvent =
  | { type: 'unreachable'; why: string }
  | { type: 'reachable' }
  /** Changes cannot be followed: the exchange is polled until they can be again. */
  | { type: 'polling'; why: string }
  | { type: 'following' }
  | { type: 'received'; requisition: string; measurement: string }
  /** The requisition cannot be verified before its duchies are ready; logged once. */
  | { type: 'waiting'; requisition: string }
  /** The events of the requisition are not recorded yet: the agent told the exchange, and tries again at `until`. */
  | { type: 'deferred'; requisition: string; until: string; why: string }
  /** The operator has not confirmed some references of the requisition: nothing is read or charged until that is done. */
  | { type: 'held'; requisition: string; references: readonly string[]; until: string; why: string }
  | { type: 'progress'; requisition: string; stage: AgentStage; percent: number }
  /** Logged for the provider only, because `message` may depend on the events. */
  | { type: 'warning'; requisition: string; message: string }
  /** A stored response has not reached the exchange, and is sent again. */
  | { type: 'resending'; requisition: string }
  | { type: 'fulfilled'; requisition: string; ms: number }
  /** `message` says why, to the provider; `sent` is what the exchange and the consumer see of it. */
  | { type: 'refused'; requisition: string; justification: string; message: string; sent: string }
  /** Something else closed the requisition, such as a cancellation. Where `charged`, the budget is not given back. */
  | { type: 'closed'; requisition: string; state: RequisitionState | 'DELETED'; charged: boolean }
  | { type: 'retrying'; requisition: string; attempt: number; inMs: number; why: string }
  /** A duchy rejects the stored upload. The same bytes are sent again, until `most` rejections make it a refusal. */
  | {
      type: 'rejected';
      requisition: string;
      rejections: number;
      most: number;
      inMs: number;
      why: string;
      /** The remedy for the operator of the provider. */
      remedy: string;
    };

/** The stages that take long: ordering the VIDs of a population, reading events, encrypting a sketch, uploading. */
export type AgentStage = 'ordering' | 'scanning' | 'encrypting' | 'uploading';
