import type { EventGroup } from '@measurement-exchange/contract';
import { attributeNames, daysText, mediaText } from './words.ts';

export const GROUP_HEADS = (
  <>
    <th>Media</th>
    <th>Has data</th>
    <th>Filters can use</th>
  </>
);

/** The cells of an event group's row that the catalog and the form share. */
export function GroupCells({ group }: { group: EventGroup }) {
  return (
    <>
      <td data-l="Media" className="nowrap">
        {mediaText(group)}
      </td>
      <td data-l="Has data" className="nowrap">
        {daysText(group)}
      </td>
      <td data-l="Filters can use" className="soft">
        {attributeNames(group)}
      </td>
    </>
  );
}
