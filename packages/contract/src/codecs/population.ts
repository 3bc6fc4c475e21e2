import * as s from '../json/schema.ts';
import { written } from './common.ts';

/** The largest VID (virtual person ID), which is one less than the largest signed 32-bit integer. */
export const MAX_VID = 2 ** 31 - 2;
const MAX_VID_RANGES = 1000;

/** A range of VIDs that includes both `start` and `end`. */
export const VidRange = s.object({ start: s.integer(1, MAX_VID), end: s.integer(1, MAX_VID) });
export type VidRange = s.Static<typeof VidRange>;

const vidRanges = s.array(VidRange, { minItems: 1, maxItems: MAX_VID_RANGES });

/** People of a population who have the same attributes. A filter can test an attribute as `person.<attribute name>`. */
export const Subpopulation = s.object({
  attributes: s.array(s.object({ name: s.attributeName(), value: s.text(255, 1) }), {
    minItems: 1,
    maxItems: 16,
  }),
  vidRanges,
});
export type Subpopulation = s.Static<typeof Subpopulation>;

const subpopulations = s.array(Subpopulation, { maxItems: MAX_VID_RANGES });

const changeable = {
  displayName: s.optional(s.text(255)),
  modelLines: s.optional(
    s.array(s.text(255, 1), { maxItems: 1000 }),
    'Measurements whose spec names one of these model lines count people of this population.',
  ),
  default: s.optional(
    s.boolean(),
    'Whether measurements without a model line count people of this population.',
  ),
};

export const PopulationInput = s.object({
  ...changeable,
  vidRanges,
  subpopulations: s.optional(subpopulations, 'Parts of the ranges that share no VID, with their attributes.'),
});
export type PopulationInput = s.Static<typeof PopulationInput>;

/** An update replaces only the fields that it contains. */
export const PopulationUpdate = s.object({
  ...changeable,
  vidRanges: s.optional(vidRanges, 'Must equal the current ranges: the ranges of a population never change.'),
  subpopulations: s.optional(subpopulations, 'Must equal the current subpopulations, which never change.'),
});
export type PopulationUpdate = s.Static<typeof PopulationUpdate>;

export const Population = s.object({
  name: s.optional(s.nameOf('population')),
  ...changeable,
  vidRanges,
  subpopulations: s.optional(
    subpopulations,
    'People with the same attributes. Filters can use an attribute as `person.<name>`.',
  ),
  size: s.optional(s.integer(1, MAX_VID), 'How many VIDs the ranges hold.'),
  fingerprint: s.optional(s.sha256(), 'SHA-256 of the ranges in ascending order.'),
  ...written,
});
export type Population = s.Static<typeof Population>;
