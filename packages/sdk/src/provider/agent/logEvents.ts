import type { RequisitionState } from '@measurement-exchange/contract';

/** A log event of the agent. */
export type AgentEvent =
  | { type: 'unreachable'; why: string }
  | { type: 'reachable' }
  /** Changes cannot be followed, so the agent polls the exchange until they can be followed again. */
  | { type: 'polling'; why: string }
  | { type: 'following' }
  | { type: 'received'; requisition: string; measurement: string }
  /** The requisition cannot be verified before its duchies are ready. This event is logged once. */
  | { type: 'waiting'; requisition: string }
  /** The events of the requisition are not recorded yet. The agent tells the exchange, and tries again at `until`. */
  | { type: 'deferred'; requisition: string; until: string; why: string }
  /** The operator has not confirmed some references of the requisition; nothing is read or charged until then. */
  | { type: 'held'; requisition: string; references: readonly string[]; until: string; why: string }
  | { type: 'progress'; requisition: string; stage: AgentStage; percent: number }
  /** This event is for the provider only, because `message` may depend on the events. */
  | { type: 'warning'; requisition: string; message: string }
  /** The agent sends a stored response again, because it has not reached the exchange. */
  | { type: 'resending'; requisition: string }
  | { type: 'fulfilled'; requisition: string; ms: number }
  /** `message` has the reason for the provider; the exchange and the consumer see only `sent`. */
  | { type: 'refused'; requisition: string; justification: string; message: string; sent: string }
  /** A cancellation or the like closed the requisition. If it was `charged`, the budget stays spent. */
  | { type: 'closed'; requisition: string; state: RequisitionState | 'DELETED'; charged: boolean }
  | { type: 'retrying'; requisition: string; attempt: number; inMs: number; why: string }
  /** A duchy rejects the stored upload. The same bytes are sent again; after `most` rejections the requisition is refused. */
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

/** The long stages of an attempt: ordering the VIDs of a population, reading events, encrypting a sketch, uploading. */
export type AgentStage = 'ordering' | 'scanning' | 'encrypting' | 'uploading';
