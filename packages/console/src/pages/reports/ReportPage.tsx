/** The page of one report: its progress, its figures, and its definition. */
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { OpenedReport } from '../../companion/methods.ts';
import { dateRange, moment } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { CopyLink } from '../../parts/CopyLink.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { pathOf } from '../../parts/links.ts';
import { useNames } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { PublisherTags, usePublishers } from '../../parts/Publisher.tsx';
import { ErrorNote, Loaded, NeedsKey } from '../../parts/states.tsx';
import { segmentsOf } from '../../reports/segments.ts';
import { labelsOf } from '../../reports/words.ts';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';
import { ReportChip } from './ReportChip.tsx';
import { Cost } from './run/Cost.tsx';
import { Definition } from './run/Definition.tsx';
import { Export } from './run/Export.tsx';
import { Progress } from './run/Progress.tsx';
import { useGroupSizes } from './run/useGroupSizes.ts';
import { useReport } from './run/useReport.ts';
import { ReportBody } from './show/ReportBody.tsx';

export default function ReportPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { principal, companion } = useSession();
  const name = `${principal}/reports/${id}`;
  const report = useReport(name);
  return (
    <>
      <nav className="crumb" aria-label="Path">
        <A to="/reports">Reports</A> / {id}
      </nav>
      {companion === undefined && (
        <>
          <PageHead title="Report" />
          <NeedsKey what="The report is sealed for you." />
        </>
      )}
      {companion && (
        <Loaded query={report}>
          {(opened) => (
            <>
              {report.error && <ErrorNote error={report.error} retry={() => void report.refetch()} />}
              <Head name={name} opened={opened} />
              <Body name={name} opened={opened} again={() => void report.refetch()} />
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

interface Props {
  name: string;
  opened: OpenedReport;
}

function Head({ name, opened: { definition, state, createTime, view } }: Props) {
  const publishers = Object.values(definition.segments).flatMap(({ eventGroups }) =>
    eventGroups.map((group) => group.split('/').slice(0, 2).join('/')),
  );
  return (
    <PageHead
      title={definition.title}
      meta={[
        <ReportChip key="state" state={state} />,
        dateRange(definition.interval.start, definition.interval.end),
        <PublisherTags key="publishers" names={[...new Set(publishers)]} />,
        `Asked ${moment(createTime)}`,
      ]}
      actions={
        <>
          {view && <Export name={name} />}
          <CopyLink />
          <A data-key="C" className="btn main" to={`/reports/new?from=${idOf(name)}`}>
            <Icon name="clone" /> Clone
          </A>
        </>
      }
    />
  );
}

function Body({ name, opened, again }: Props & { again: () => void }) {
  const { definition, isRunning, progress, error, view, state } = opened;
  const publisher = usePublishers();
  const nameOf = useNames();
  const sizeOf = useGroupSizes(definition.modelLine);
  const { principal } = useSession();
  const segments = segmentsOf(definition);
  const labels = labelsOf(segments, publisher);
  const lacks = view?.figures.some(({ missing }) => missing.length > 0) ?? false;
  const canRun = !isRunning && (state !== 'COMPLETE' || lacks);
  return (
    <>
      {error && <ErrorNote error={new Error(error)} />}
      {canRun && <Continue {...{ name, state, again }} />}
      {isRunning && progress && (
        <Progress {...{ progress, labels, segments, interval: definition.interval }} />
      )}
      {isRunning && !progress && (
        <div className="note run" role="status">
          <Icon name="run" />
          <div>The report is being planned.</div>
        </div>
      )}
      {view && (
        <ReportBody
          {...{ view, nameOf, sizeOf, labels }}
          linkTo={(measurement) => <A to={pathOf(measurement, 'consumer')!}>Open the measurement</A>}
        >
          <Cost view={view} />
          <Definition definition={definition} segments={segments} needs={view.needs} />
        </ReportBody>
      )}
      {!view && <Definition definition={definition} segments={segments} needs={[]} />}
      <CommandLine command={`mex report show ${idOf(name)} --as ${idOf(principal)}`} />
    </>
  );
}

const WHY = {
  PLANNED: 'Nothing was asked yet.',
  RUNNING: 'Some of its measurements are not answered yet, and this machine does not wait for them.',
  INCOMPLETE: 'Some of its measurements failed. What is answered is kept, and only the rest is asked again.',
  COMPLETE: 'Everything that was asked is answered. The rest can be asked once its days are over.',
};

/** Says why the report has no complete result, and shows a button that starts or continues the report. */
function Continue({ name, state, again }: { name: string; state: keyof typeof WHY; again: () => void }) {
  const { companion } = useSession();
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await companion!.runReport({ name });
      again();
    } catch (error) {
      setError(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div className="note warn">
        <Icon name="clock" />
        <div>
          {WHY[state]}{' '}
          <button type="button" className="btn sm" disabled={isBusy} onClick={() => void run()}>
            {state === 'PLANNED' ? 'Run it' : 'Continue'}
          </button>
        </div>
      </div>
      {error && <ErrorNote error={error} />}
    </>
  );
}
