/**
 * Shows the question of a measurement. The dates, event groups and filters come from the consumer's encrypted copy of
 * the question. The other facts come from the exchange.
 */
import { decodeMeasurementSpec, type Measurement, type PlainSpec } from '@measurement-exchange/contract';
import type { Question } from '@measurement-exchange/sdk';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { OpenedQuestion } from '../../../companion/methods.ts';
import { count, privacyText } from '../../../format.ts';
import { A } from '../../../parts/A.tsx';
import { PublisherTag } from '../../../parts/Publisher.tsx';
import { protocolWords } from '../../../parts/protocols.ts';
import { ErrorNote, NeedsKey, Skeleton } from '../../../parts/states.tsx';
import { Term } from '../../../parts/Term.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import { daysOf, typeWords } from '../words.ts';
import { EventGroups, filtersOf } from './EventGroups.tsx';
import { usePopulation } from './usePopulation.ts';

export function Asked({
  measurement,
  question,
}: {
  measurement: Measurement;
  question: UseQueryResult<OpenedQuestion>;
}) {
  const { companion } = useSession();
  const id = idOf(measurement.name!);
  const decoded = measurement.measurementSpec && decodeMeasurementSpec(measurement.measurementSpec.message);
  const spec = decoded && 'spec' in decoded ? decoded.spec : undefined;
  const asked = question.data?.question;
  const protocol = measurement.protocolConfig && protocolWords(measurement.protocolConfig);
  return (
    <section className="card">
      <header>
        <h2>What you asked</h2>
        <p>Dates, event groups and filters are sealed: only you and the publishers can read them.</p>
      </header>
      <div className="in-card stack">
        {companion === undefined && <NeedsKey what="Title, dates, event groups and filters are sealed." />}
        {question.error && <ErrorNote error={question.error} retry={() => void question.refetch()} />}
        {question.data?.error && (
          <p className="sm bad">The sealed copy cannot be shown: {question.data.error}</p>
        )}
        {question.isLoading && <Skeleton rows={2} />}
        <dl className="kv">
          <Fact name="Count">{countWords(measurement, spec)}</Fact>
          {asked && <Sealed question={asked} />}
          {asked === undefined && (
            <Fact name="Publishers">
              {Object.keys(measurement.dataProviders ?? {}).map((name) => (
                <div key={name}>
                  <PublisherTag name={name} />
                </div>
              ))}
            </Fact>
          )}
          <Fact name="Protocol">
            {protocol && (
              <>
                <Term word={protocol.label}>{protocol.name}</Term>{' '}
                {measurement.protocolConfig?.direct && <span className="sub">{protocol.how}</span>}
              </>
            )}
          </Fact>
          <PopulationFact measurement={measurement} />
          <Fact name="Privacy">{spec && privacyWords(spec)}</Fact>
          <Fact name="Reference">
            {measurement.measurementReferenceId && (
              <bdi className="mono">{measurement.measurementReferenceId}</bdi>
            )}
          </Fact>
        </dl>
      </div>
      <footer>
        <span className="mono">measurements/{id}</span>
        <span>
          <A to={`/new?from=${id}`}>Clone this question</A>
        </span>
      </footer>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (!children) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Sealed({ question }: { question: Question }) {
  const filters = filtersOf(question);
  return (
    <>
      <Fact name="Dates">{daysOf(question) && `${daysOf(question)}, midnight to midnight UTC`}</Fact>
      <Fact name="Event groups">
        <EventGroups question={question} />
      </Fact>
      <Fact name="Filter">
        {filters.length === 0 ? (
          <span className="muted">none: all events</span>
        ) : (
          filters.map((filter) => (
            <div key={filter}>
              <bdi className="mono">{filter}</bdi>
            </div>
          ))
        )}
      </Fact>
    </>
  );
}

function countWords({ protocolConfig }: Measurement, spec: PlainSpec | undefined): string {
  const words = typeWords(spec?.measurementType ?? protocolConfig?.measurementType);
  if (spec?.measurementType === 'REACH_AND_FREQUENCY')
    return `${words} up to ${spec.reachAndFrequency.maximumFrequency}+`;
  if (spec?.measurementType === 'IMPRESSION')
    return `${words}, at most ${spec.impression.maximumFrequencyPerUser} a person`;
  if (spec?.measurementType === 'DURATION') {
    return `${words}, at most ${spec.duration.maximumWatchDurationPerUser ?? 0} s a person`;
  }
  return words;
}

function privacyWords(spec: PlainSpec): string | undefined {
  const params =
    spec.measurementType === 'REACH'
      ? spec.reach.privacyParams
      : spec.measurementType === 'REACH_AND_FREQUENCY'
        ? spec.reachAndFrequency.reachPrivacyParams
        : spec.measurementType === 'IMPRESSION'
          ? spec.impression.privacyParams
          : spec.measurementType === 'DURATION'
            ? spec.duration.privacyParams
            : undefined;
  const width = spec.vidSamplingInterval?.width ?? 1;
  const sample = width === 1 ? 'everybody sampled' : `${Number((width * 100).toPrecision(4))} % sampled`;
  return params ? `${privacyText(params)} · ${sample}` : undefined;
}

function PopulationFact({ measurement }: { measurement: Measurement }) {
  const name = measurement.protocolConfig?.honestMajorityShareShuffle?.population;
  const { data } = usePopulation(measurement);
  if (name === undefined) return null;
  return (
    <Fact name="Population">
      <bdi>{data?.displayName ?? idOf(name)}</bdi>
      {data?.size !== undefined && `, ${count(data.size)} people`}
    </Fact>
  );
}
