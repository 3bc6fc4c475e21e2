/**
 * The page of one measurement. It shows the reason for waiting first, then the result, the question, and the timeline.
 */
import type { Measurement } from '@measurement-exchange/contract';
import { useParams } from '@tanstack/react-router';
import { moment } from '../../format.ts';
import { useNow } from '../../live/useNow.ts';
import { A } from '../../parts/A.tsx';
import { MeasurementChip } from '../../parts/Chip.tsx';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { CopyLink } from '../../parts/CopyLink.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { useNames } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { PublisherTags } from '../../parts/Publisher.tsx';
import { ErrorNote, Loaded } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { Asked } from './one/Asked.tsx';
import { CancelButton } from './one/CancelButton.tsx';
import { Duchies } from './one/Duchies.tsx';
import { Publishers } from './one/Publishers.tsx';
import { Results, Verified } from './one/Results.tsx';
import { TimelineCard } from './one/TimelineCard.tsx';
import { type MeasurementQueries, useMeasurement } from './one/useMeasurement.ts';
import { WhyCard } from './one/WhyCard.tsx';
import { whyItWaits } from './one/why.ts';
import { whyItEnded } from './one/whyEnded.ts';
import { titleOf } from './words.ts';

export default function MeasurementPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { principal } = useSession();
  const queries = useMeasurement(`${principal}/measurements/${id}`);
  return (
    <Loaded query={queries.measurement}>
      {(measurement) => (
        <>
          {queries.measurement.error && (
            <ErrorNote error={queries.measurement.error} retry={() => void queries.measurement.refetch()} />
          )}
          <Head measurement={measurement} queries={queries} />
          <Body measurement={measurement} queries={queries} />
        </>
      )}
    </Loaded>
  );
}

interface Props {
  measurement: Measurement;
  queries: MeasurementQueries;
}

function Head({ measurement, queries }: Props) {
  const { name = '', state, failure, measurementReferenceId: reference, createTime } = measurement;
  return (
    <PageHead
      above={{ to: '/measurements', text: 'Measurements' }}
      title={titleOf({ name, reference }, queries.question.data?.question)}
      meta={[
        <MeasurementChip key="state" state={state} failure={failure} />,
        <PublisherTags key="publishers" names={Object.keys(measurement.dataProviders ?? {})} />,
        createTime && `Asked ${moment(createTime)}`,
      ]}
      actions={
        <>
          {queries.isOpen && queries.requisitions.data && (
            <CancelButton name={name} requisitions={queries.requisitions.data} />
          )}
          <CopyLink />
          <A data-key="C" className="btn main" to={`/new?from=${idOf(name)}`}>
            <Icon name="clone" /> Clone
          </A>
        </>
      }
    />
  );
}

function Body({ measurement, queries }: Props) {
  const now = useNow(queries.isOpen ? 1000 : 60_000);
  const { principal } = useSession();
  const id = idOf(measurement.name!);
  const requisitions = queries.requisitions.data ?? [];
  const reports = queries.timeline.data?.progress ?? [];
  const waitsFor = queries.explanation.data?.waitingFor.map(({ party }) => party) ?? [];
  const timeline = (
    <Loaded query={queries.timeline}>
      {(timeline) => <TimelineCard id={id} timeline={timeline} requisitions={requisitions} />}
    </Loaded>
  );
  return (
    <div className="cols c21">
      <div className="stack wide">
        <WhyOf measurement={measurement} queries={queries} now={now} />
        <Results measurement={measurement} />
        <Loaded query={queries.requisitions}>
          {(requisitions) => (
            <Publishers requisitions={requisitions} explanation={queries.explanation.data} now={now} />
          )}
        </Loaded>
        <Duchies measurement={measurement} {...{ requisitions, reports, waitsFor, now }} />
        {!queries.isOpen && timeline}
      </div>
      <div className="stack wide">
        <Asked measurement={measurement} question={queries.question} />
        <Verified measurement={measurement} />
        {queries.isOpen && timeline}
        <div className="stack tight">
          <span className="hint">The same in a terminal:</span>
          <CommandLine command={`mex why ${id} --as ${idOf(principal)}`} />
        </div>
      </div>
    </div>
  );
}

function WhyOf({ measurement, queries, now }: Props & { now: number }) {
  const nameOf = useNames();
  const requisitions = queries.requisitions.data ?? [];
  const reports = queries.timeline.data?.progress ?? [];
  const question = queries.question.data?.question;
  return (
    <Loaded query={queries.explanation}>
      {(explanation) => {
        const why = queries.isOpen
          ? whyItWaits(explanation, {
              requisitions,
              reports,
              protocolConfig: measurement.protocolConfig,
              nameOf,
              now,
            })
          : whyItEnded(explanation, { requisitions, question, nameOf });
        const again =
          queries.isOpen || measurement.deleteTime ? undefined : `/new?from=${idOf(measurement.name!)}`;
        return why && <WhyCard why={why} risks={explanation.risks} {...(again && { again })} />;
      }}
    </Loaded>
  );
}
