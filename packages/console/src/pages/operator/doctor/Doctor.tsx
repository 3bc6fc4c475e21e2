/** The doctor's page: the findings of the latest database check, with advice. */
import type { Doctor } from '@measurement-exchange/contract';
import { useState } from 'react';
import { ago, count, duration, moment } from '../../../format.ts';
import { CommandLine } from '../../../parts/CommandLine.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Empty, ErrorNote, Loaded } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { useDoctor, useRefresh } from '../data.ts';
import '../operator.css';

export default function DoctorPage() {
  const { client } = useSession();
  const refresh = useRefresh();
  const query = useDoctor();
  const [error, setError] = useState<Error>();
  const run = async () => {
    setError(undefined);
    await client.runDoctor().then(refresh, setError);
  };
  const isRunning = query.data?.running === true;
  return (
    <>
      <PageHead
        title="Doctor"
        meta={['Checks the database for what must never happen, without changing anything']}
        actions={
          <button type="button" className="btn main" disabled={isRunning} onClick={() => void run()}>
            <Icon name="doc" /> {isRunning ? 'Checking' : query.data?.endTime ? 'Run again' : 'Run now'}
          </button>
        }
      />
      {error && <ErrorNote error={error} />}
      <Loaded query={query}>{(doctor) => <Report doctor={doctor} />}</Loaded>
      <section className="card">
        <header>
          <h2>On the command line</h2>
        </header>
        <div className="in-card">
          <CommandLine command="mex doctor --json" />
        </div>
      </section>
    </>
  );
}

function Report({ doctor }: { doctor: Doctor }) {
  const { running, startTime, endTime, checks = 0, findings, failure } = doctor;
  const passed = checks - findings.length;
  return (
    <section className="card">
      <header>
        <h2>Last findings</h2>
        <span className="xs muted" role="status">
          {running ? 'Checking now' : endTime ? `${count(checks)} checks, ${ago(endTime)}` : ''}
        </span>
      </header>
      {endTime === undefined && failure === undefined ? (
        <Empty title={running ? 'The first check runs' : 'No check yet'}>
          <p>
            {running
              ? 'Its findings appear here.'
              : 'Run it now. It takes seconds, or minutes on a large database.'}
          </p>
        </Empty>
      ) : (
        <ul className="att">
          {failure && (
            <li>
              <Icon name="x" tone="bad" />
              <div>
                <b>The last check could not be made</b>
                <p className="sm soft">{failure}</p>
              </div>
            </li>
          )}
          {findings.map((finding) => (
            <Finding key={finding.check} {...finding} />
          ))}
          {passed > 0 && (
            <li>
              <Icon name="check" tone="ok" />
              <div>
                <b>{passed === 1 ? '1 check passed' : `${count(passed)} checks passed`}</b>
                {startTime && endTime && !running && (
                  <p className="sm soft">
                    {moment(endTime)}, in {duration(Date.parse(endTime) - Date.parse(startTime))}
                  </p>
                )}
              </div>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

function Finding({ check, severity, rows, examples, meaning, remedy }: Doctor['findings'][number]) {
  const isError = severity === 'error';
  return (
    <li>
      <Icon name={isError ? 'x' : 'warn'} tone={isError ? 'bad' : 'warn'} />
      <div>
        <b>{meaning}</b>
        <p className="sm">{remedy}</p>
        <p className="sm soft">
          {count(rows)} found
          {examples.length > 0 && (
            <>
              : <bdi className="mono">{examples.join(', ')}</bdi>
            </>
          )}
          {' · '}
          <code>{check}</code> {isError ? '' : '(warning)'}
        </p>
      </div>
    </li>
  );
}
