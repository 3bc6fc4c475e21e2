import {
  array,
  boolean,
  integer,
  nameOf,
  object,
  optional,
  type Static,
  sha256,
  text,
  timestamp,
} from '../json/schema.ts';
import { Finding } from './common.ts';

/** VIDs are 31-bit signed integers above 0. */
export const MAX_VID = 2 ** 31 - 2;
const MAX_VID_RANGES = 1000;

/** Both ends belong to the range. */
export const VidRange = object({ start: integer(1, MAX_VID), end: integer(1, MAX_VID) });
export type VidRange = Static<typeof VidRange>;

const vidRanges = array(VidRange, { minItems: 1, maxItems: MAX_VID_RANGES });

const changeable = {
  displayName: optional(text(255)),
  modelLines: optional(
    array(text(255, 1), { maxItems: 1000 }),
    'Measurements whose spec names one of these model lines count people of this population.',
  ),
  default: optional(boolean(), 'Whether measurements without a model line count people of this population.'),
};

export const PopulationInput = object({ ...changeable, vidRanges });
export type PopulationInput = Static<typeof PopulationInput>;

/** The fields present are replaced. */
export const PopulationUpdate = object({
  ...changeable,
  vidRanges: optional(vidRanges, 'Only what they are already: the ranges of a population never change.'),
});
export type PopulationUpdate = Static<typeof PopulationUpdate>;

export const Population = object({
  name: optional(nameOf('population')),
  ...changeable,
  vidRanges,
  size: optional(integer(1, MAX_VID), 'How many VIDs the ranges hold.'),
  fingerprint: optional(sha256(), 'SHA-256 of the ranges in ascending order.'),
  createTime: optional(timestamp()),
  updateTime: optional(timestamp()),
  findings: optional(array(Finding)),
});
export type Population = Static<typeof Population>;
