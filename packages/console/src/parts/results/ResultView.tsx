/** The result of a measurement: the answer, then its error, then details. */
import type { MeasurementResult } from '@measurement-exchange/sdk';
import { addingUpChart } from '../../charts/index.ts';
import { count, percent } from '../../format.ts';
import { idOf } from '../../session/roles.ts';
import { Chart } from '../Chart.tsx';
import { AnswerCard, type Population } from './AnswerCard.tsx';
import { type Answer, answerOf, type NameOf } from './answers.ts';
import { Frequency } from './Frequency.tsx';
import { PerPublisher, ReachBounds } from './PerPublisher.tsx';

export interface ResultViewProps {
  result: MeasurementResult;
  population?: Population;
  /** The sum of the publishers' own reach, if it is known from other measurements. */
  addedUp?: number;
  /** Returns a party's display name. Defaults to the last part of the resource name. */
  nameOf?: NameOf;
  /** Returns the position of a publisher among all publishers, so that its color is the same on all pages. */
  placeOf?: (resource: string) => number;
}

export function ResultView({ result, population, addedUp, nameOf = idOf, placeOf }: ResultViewProps) {
  const answer = answerOf(result, nameOf);
  const file = idOf(result.measurement);
  const { deduplicated } = result.total;
  const isAlone = deduplicated === undefined;
  const parts = { result, nameOf, file, ...(placeOf && { placeOf }) };
  return (
    <div className="stack wide">
      {answer ? (
        <AnswerCard answer={answer} {...(population && { population })}>
          {deduplicated && addedUp !== undefined && <AddedUp {...{ answer, addedUp, population, file }} />}
        </AnswerCard>
      ) : (
        <ReachBounds {...parts} />
      )}
      {deduplicated?.frequency && <Frequency frequency={deduplicated.frequency} file={file} />}
      {isAlone && answer && <PerPublisher {...parts} />}
      {result.dataProviders.map(({ name, frequency }, _, all) =>
        frequency === undefined ? null : (
          <Frequency
            key={name}
            frequency={frequency}
            file={`${file}-${idOf(name)}`}
            {...(all.length > 1 && { whose: nameOf(name) })}
          />
        ),
      )}
    </div>
  );
}

type AddedUpProps = { answer: Answer; addedUp: number; population: Population | undefined; file: string };

function AddedUp({ answer: { label, figure }, addedUp, population, file }: AddedUpProps) {
  const excess = addedUp / figure.value - 1;
  const options = { hasCloseUp: false, ...(population && { population: population.size }) };
  return (
    <>
      <p className="sm soft">
        Adding up the publishers' own figures would claim {count(addedUp)}
        {figure.value > 0 && excess > 0 && <>: {percent(excess, 0)} too many</>}.
      </p>
      <Chart chart={addingUpChart(label, { once: figure, addedUp, ...options })} file={`${file}-added-up`} />
    </>
  );
}
