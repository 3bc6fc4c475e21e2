import type { ReactNode } from 'react';
import { PEOPLE, whiskerChart } from '../../charts/index.ts';
import { around, count, intervalText, percent, points } from '../../format.ts';
import { Drawing } from '../Chart.tsx';
import type { Answer } from './answers.ts';

export interface Population {
  size: number;
  /** A word for the people in the population, such as `adults`. Defaults to `people`. */
  word?: string;
}

export function AnswerCard({
  answer,
  population,
  children,
}: {
  answer: Answer;
  population?: Population;
  children?: ReactNode;
}) {
  const { label, figure, unit } = answer;
  const { value, interval = [value, value] } = figure;
  const isExact = interval[0] === interval[1];
  return (
    <section className="card">
      <div className="in-card stack">
        <h2 className="lab soft">{label}</h2>
        <div className="big">
          <span className="v">{unit.text(value)}</span>
          <span className="pm">
            <Doubt answer={answer} />
          </span>
        </div>
        {!isExact && <Drawing tree={whiskerChart(label, figure, unit).drawing} />}
        {population && unit === PEOPLE && <ShareOf answer={answer} population={population} />}
        {children}
      </div>
    </section>
  );
}

function Doubt({ answer: { figure, unit } }: { answer: Answer }) {
  const { value, interval: [low, high] = [value, value] } = figure;
  if (low === high) return 'exact: counted without noise';
  if (low === 0 && high === Number.POSITIVE_INFINITY)
    return 'error unknown: the result does not state its noise';
  return (
    <>
      95 %: {intervalText([low, high], unit)}{' '}
      <span className="muted">({around(value, [low, high], unit)})</span>
    </>
  );
}

function ShareOf({
  answer: { figure },
  population: { size, word = 'people' },
}: {
  answer: Answer;
  population: Population;
}) {
  const { value, interval = [value, value] } = figure;
  const half = Math.max(interval[1] - value, value - interval[0]) / size;
  return (
    <p className="sm soft">
      <b>{percent(value / size)}</b>
      {Number.isFinite(half) && half > 0 && <> (± {points(half)})</>} of {count(size)} {word}
    </p>
  );
}
