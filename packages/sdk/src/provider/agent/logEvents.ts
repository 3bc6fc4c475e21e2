import type { RequisitionState } from '@measurement-exchange/contract';

/** An event that the agent logs. */
export type AgentEvent =
  | { type: 'unreachable'; why: string }
  | { type: 'reachable' }
  /** The change stream is unavailable. The agent polls the exchange until the stream is available again. */
  | { type: 'polling'; why: string }
  | { type: 'following' }
  | { type: 'received'; requisition: string; measurement: string }
  /**
   * The requisition must wait until its duchies have published their keys. This event is logged once per requisition.
   */
  | { type: 'waiting'; requisition: string }
  /** The requisition's events are not recorded yet. The agent has told the exchange, and will try again at `until`. */
  | { type: 'deferred'; requisition: string; until: string; why: string }
  /**
   * The operator has not yet confirmed that the provider's data contains these event group references. A reference is
   * the value that selects an event group's events in the data. Until the confirmation, nothing is read or charged.
   */
  | { type: 'held'; requisition: string; references: readonly string[]; until: string; why: string }
  | { type: 'progress'; requisition: string; stage: AgentStage; percent: number }
  /** Only the provider is allowed to see `message`, because the message can depend on the provider's event data. */
  | { type: 'warning'; requisition: string; message: string }
  /** The agent is resending a stored response, because the exchange may not have received it. */
  | { type: 'resending'; requisition: string }
  | { type: 'fulfilled'; requisition: string; ms: number }
  /**
   * `message` is the full reason, for the provider only. The exchange and the consumer see only `justification` and
   * `sent`.
   */
  | { type: 'refused'; requisition: string; justification: string; message: string; sent: string }
  /**
   * Something other than the agent's response closed the requisition, such as a cancellation. If `charged` is true, the
   * budget stays spent.
   */
  | { type: 'closed'; requisition: string; state: RequisitionState | 'DELETED'; charged: boolean }
  | { type: 'retrying'; requisition: string; attempt: number; inMs: number; why: string }
  /**
   * A duchy rejected the upload. The agent sends the same bytes again. After the maximum number of rejections (`most`),
   * the requisition is refused.
   */
  | {
      type: 'rejected';
      requisition: string;
      rejections: number;
      most: number;
      inMs: number;
      why: string;
      /** The action that the provider's operator can take. */
      remedy: string;
    };

/** The long stages of an attempt: ordering a population's VIDs, reading events, encrypting a sketch, and uploading. */
export type AgentStage = 'ordering' | 'scanning' | 'encrypting' | 'uploading';
