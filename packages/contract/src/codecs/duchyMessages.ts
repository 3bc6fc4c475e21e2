/** The JSON parts of the multipart/form-data bodies that duchies receive. The binary part `data` follows them. */
import * as s from '../json/schema.ts';
import { SignedMessage } from './common.ts';

/** The part `fulfillment` of an upload: a signed `mex.contract.Fulfillment`. */
export const FulfillmentPart = s.object({ fulfillment: SignedMessage });

/** The part `message` that one duchy sends another: a signed `mex.contract.StageMessage`. */
export const StageMessagePart = s.object({ message: SignedMessage });
export type StageMessagePart = s.Static<typeof StageMessagePart>;

/** The purposes that are signed together with the messages. */
export const FULFILLMENT_PURPOSE = 'mex.contract.Fulfillment';
export const STAGE_MESSAGE_PURPOSE = 'mex.contract.StageMessage';
