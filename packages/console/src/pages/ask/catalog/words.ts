/** Text about event groups. */
import { cut, type EventGroup } from '@measurement-exchange/contract';
import { dateRange, day } from '../../../format.ts';
import { MEDIA_WORDS } from '../../../parts/eventGroupWords.ts';
import { isolated } from '../../../parts/names.ts';

export const mediaText = ({ mediaTypes = [] }: EventGroup) =>
  mediaTypes.map((type) => MEDIA_WORDS[type]).join(', ') || 'not said';

/** Formats the recorded days, such as `Oct 1 – 28` or `since Jan 1`. */
export function daysText({ dataAvailabilityInterval: interval }: EventGroup): string {
  if (interval === undefined) return 'not said';
  const { startTime, endTime } = interval;
  return endTime === undefined ? `since ${day(startTime)}` : dateRange(startTime, endTime);
}

/**
 * Returns the brand and the campaign. They are not encrypted, so everyone who can see the event group can read them.
 */
export function campaignOf({ eventGroupMetadata }: EventGroup): string {
  const { brandName, campaignName } = eventGroupMetadata?.adMetadata.campaignMetadata ?? {};
  return [brandName, campaignName].flatMap((name) => (name ? [isolated(name)] : [])).join(' · ');
}

const MAX_NAMED = 6;
const MAX_NAME = 40;

export function attributeNames({ attributes }: EventGroup): string {
  if (attributes === undefined) return 'not said';
  const names = attributes.slice(0, MAX_NAMED).map(({ name }) => cut(name, MAX_NAME));
  const more = attributes.length - names.length;
  return [...names, ...(more > 0 ? [`${more} more`] : [])].join(', ') || 'none';
}
