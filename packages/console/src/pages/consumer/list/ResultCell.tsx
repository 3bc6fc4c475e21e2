/** The result of a measurement in a list: the figure, its margin, and the interval on a scale that all rows share. */
import { isTerminal } from '@measurement-exchange/contract';
import { miniWhisker } from '../../../charts/index.ts';
import { around, count } from '../../../format.ts';
import { useResult } from '../../../live/useOpened.ts';
import { Drawing } from '../../../parts/Chart.tsx';
import { answerOf } from '../../../parts/results/answers.ts';
import { useSession } from '../../../session/session.ts';
import type { Row } from './rows.ts';

export function ResultCell({ row, isSettled }: { row: Row; isSettled: boolean }) {
  const { companion } = useSession();
  const isOpened = row.state === 'SUCCEEDED' && !row.isRemoved;
  const { data, error } = useResult(row.name, { enabled: isSettled && isOpened });
  if (!isOpened) return <Muted text={isTerminal(row.state) ? 'none' : 'not yet'} />;
  if (companion === undefined) return <Muted text="sealed" />;
  if (data === undefined) return error ? <Muted text="cannot be opened" /> : <span className="sk w3" />;
  if (data.result === undefined) return <span className="bad">not verified</span>;
  const answer = answerOf(data.result);
  if (answer === undefined) return <Bounds bounds={data.result.total.reach?.bounds ?? [0, 0]} />;
  const { figure, unit } = answer;
  return (
    <span className="bar-in">
      <span className="num">
        <b>{unit.text(figure.value)}</b>{' '}
        <span className="xs muted">{figure.interval && around(figure.value, figure.interval, unit)}</span>
      </span>
      <Drawing tree={miniWhisker(figure)} />
    </span>
  );
}

/** Shows the lowest and the highest possible reach, if the result has only the reach of each publisher. */
function Bounds({ bounds: [most, sum] }: { bounds: [number, number] }) {
  return (
    <span className="num">
      <b>
        {count(most)} – {count(sum)}
      </b>
      <span className="sub">each publisher alone</span>
    </span>
  );
}

function Muted({ text }: { text: string }) {
  return <span className="muted">{text}</span>;
}
