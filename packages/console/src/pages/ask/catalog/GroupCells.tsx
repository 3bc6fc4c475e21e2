import type { EventGroup } from '@measurement-exchange/contract';
import { attributeNames, daysText, mediaText } from './words.ts';

export const GROUP_HEADS = (
  <>
    <th>Media</th>
    <th>Has data</th>
    <th>Filters can use</th>
  </>
);

/** Table cells that describe an event group. The rows of the catalog and of the measurement form contain them. */
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
