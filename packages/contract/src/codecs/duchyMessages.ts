/**
 * The JSON parts of the multipart/form-data bodies that duchies receive. In each body, a binary part named `data`
 * follows the JSON part.
 */
import * as s from '../json/schema.ts';
import { SignedMessage } from './common.ts';

/** The `fulfillment` part of an upload: a signed `mex.contract.Fulfillment`. */
export const FulfillmentPart = s.object({ fulfillment: SignedMessage });

/** The `message` part that one duchy sends to another: a signed `mex.contract.StageMessage`. */
export const StageMessagePart = s.object({ message: SignedMessage });
export type StageMessagePart = s.Static<typeof StageMessagePart>;

/** The values of the `purpose` field in the signed messages. */
export const FULFILLMENT_PURPOSE = 'mex.contract.Fulfillment';
export const STAGE_MESSAGE_PURPOSE = 'mex.contract.StageMessage';
