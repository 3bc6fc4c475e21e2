/** The cells of a measurement in a list. */
import { memo } from 'react';
import { ago } from '../../../format.ts';
import { useQuestion } from '../../../live/useOpened.ts';
import { A } from '../../../parts/A.tsx';
import { MeasurementChip } from '../../../parts/Chip.tsx';
import { PublisherTags } from '../../../parts/Publisher.tsx';
import { idOf } from '../../../session/roles.ts';
import { daysOf, titleOf, typeWords } from '../words.ts';
import { ProgressCell } from './ProgressCell.tsx';
import { ResultCell } from './ResultCell.tsx';
import type { Row } from './rows.ts';
import { useSettled } from './useSettled.ts';

/** The cells of the header row. */
export const HEAD = (
  <>
    <th>Title</th>
    <th>Publishers</th>
    <th>Dates</th>
    <th>State</th>
    <th>Progress</th>
    <th className="num">Result (95 %)</th>
    <th className="num">Changed</th>
  </>
);

export interface Selection {
  isChosen: boolean;
  choose: (name: string, isChosen: boolean) => void;
}

export const MeasurementCells = memo(function MeasurementCells({
  row,
  now,
  isChosen,
  choose,
}: { row: Row; now: number } & Partial<Selection>) {
  const isSettled = useSettled();
  const { data } = useQuestion(row.name, { enabled: isSettled });
  const title = titleOf(row, data?.question);
  return (
    <>
      <td>
        <span className="pickable">
          {choose && (
            <input
              type="checkbox"
              aria-label={`Compare ${title}`}
              checked={isChosen}
              onChange={({ target }) => choose(row.name, target.checked)}
            />
          )}
          <span>
            <A className="ttl lines" to={`/measurements/${idOf(row.name)}`}>
              <bdi>{title}</bdi>
            </A>
            <span className="sub lines">{subtitle(row, title)}</span>
          </span>
        </span>
      </td>
      <td data-l="Publishers">
        <PublisherTags names={row.publishers} />
      </td>
      <td className="nowrap" data-l="Dates">
        {daysOf(data?.question)}
      </td>
      <td data-l="State">
        <MeasurementChip state={row.state} failure={row.failure} />
      </td>
      <td data-l="Progress">
        <ProgressCell row={row} isSettled={isSettled} />
      </td>
      <td className="num" data-l="Result">
        <ResultCell row={row} isSettled={isSettled} />
      </td>
      <td className="num muted" data-l="Changed">
        {ago(row.updateTime, now)}
      </td>
    </>
  );
});

function subtitle({ type, reference, isRemoved }: Row, title: string) {
  if (isRemoved) return 'Removed by the retention of the exchange';
  return (
    <>
      {typeWords(type)}
      {reference !== undefined && reference !== title && (
        <>
          {' · '}
          <bdi>{reference}</bdi>
        </>
      )}
    </>
  );
}
