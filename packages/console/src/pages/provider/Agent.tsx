/** The agent's page: its state, responses, retries, and held requests. */
import type { AgentView } from '../../companion/methods.ts';
import { ago, count, counted, day, duration, moment } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { Chip } from '../../parts/Chip.tsx';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { capital, partyName } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty } from '../../parts/states.tsx';
import { useSubject } from '../../parts/useSubject.ts';
import { idOf } from '../../session/roles.ts';
import { AgentState } from './AgentState.tsx';
import { HeldLink } from './HeldCard.tsx';
import { LedgerPart } from './LedgerPart.tsx';
import { useAgent } from './requests.ts';
import { JUSTIFICATIONS } from './words.ts';

export default function Agent() {
  return (
    <>
      <PageHead title="Agent and files" meta={['The program that answers requests from your own files']} />
      <LedgerPart query={useAgent()}>{(view) => <Shown view={view} />}</LedgerPart>
    </>
  );
}

function Shown({ view }: { view: AgentView }) {
  return (
    <>
      {view.heldQuestions.map((held) => (
        <HeldLink key={held.requisition} held={held} />
      ))}
      <div className="cols c57">
        <AgentState view={view} />
        <LastAnswers view={view} />
      </div>
      <Retries view={view} />
      <Files view={view} />
    </>
  );
}

const RESPONSES = { RESULT: 'Result', UPLOAD: 'Sent to a duchy', REFUSAL: 'Refused' } as const;

function LastAnswers({ view: { lastResponses, responses } }: { view: AgentView }) {
  return (
    <section className="card">
      <header>
        <h2>Last answers</h2>
        <p>
          In all: {counted(responses.results, 'result')}, {count(responses.uploads)} sent to duchies,{' '}
          {count(responses.refusals)} refused.
        </p>
      </header>
      {lastResponses.length === 0 ? (
        <Empty title="No answer yet" />
      ) : (
        <table className="fold dense">
          <thead>
            <tr>
              <th>When</th>
              <th>For</th>
              <th>Answer</th>
            </tr>
          </thead>
          <tbody>
            {lastResponses.map(({ requisition, time, measurement, response, justification, message }) => (
              <tr key={requisition}>
                <td>
                  <A to={`/requests/${idOf(requisition)}`}>
                    <span title={moment(time)}>{ago(time)}</span>
                  </A>
                </td>
                <td data-l="For">
                  <bdi>{capital(measurement?.split('/')[1] ?? '')}</bdi>
                </td>
                <td data-l="Answer">
                  <Chip
                    tone={response === 'REFUSAL' ? 'bad' : 'ok'}
                    icon={response === 'REFUSAL' ? 'x' : 'check'}
                  >
                    {RESPONSES[response]}
                  </Chip>
                  {justification && (
                    <span className="sub">
                      {JUSTIFICATIONS[justification as keyof typeof JUSTIFICATIONS]?.title ?? justification}
                      {message && (
                        <>
                          : <bdi>{message}</bdi>
                        </>
                      )}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Retries({ view: { agent, rejectedUploads } }: { view: AgentView }) {
  const rows = [
    ...(agent?.nextRetries ?? []).map(({ requisition, time, why }) => {
      const due = Date.parse(time) - Date.now();
      return { requisition, why, when: due > 0 ? `again in ${duration(due)}` : 'again now' };
    }),
    ...rejectedUploads.map(({ requisition, duchy, count: times, why }) => ({
      requisition,
      why: `${partyName(duchy)} rejects the upload: ${why}`,
      when: `rejected ${times} times`,
    })),
  ];
  if (rows.length === 0) return null;
  return (
    <section className="card">
      <header>
        <h2>Tried again</h2>
        <p>
          Nothing is charged twice. An upload that is rejected eight times is refused, which fails its
          measurement.
        </p>
      </header>
      <table className="fold dense">
        <thead>
          <tr>
            <th>Request</th>
            <th>Why</th>
            <th className="num">When</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ requisition, why, when }) => (
            <tr key={`${requisition} ${when}`}>
              <td>
                <A to={`/requests/${idOf(requisition)}`}>
                  <Request name={requisition} />
                </A>
              </td>
              <td data-l="Why">
                <bdi>{why}</bdi>
              </td>
              <td className="num" data-l="When">
                {when}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Request({ name }: { name: string }) {
  return <bdi>{useSubject({ name, kind: 'REQUISITION' }) ?? idOf(name)}</bdi>;
}

function Files({ view: { confirmedReferences } }: { view: AgentView }) {
  return (
    <section className="card">
      <header>
        <h2>References that the agent answers about</h2>
        <p>
          Somebody looked at their rows and confirmed them. References that the settings declare are not
          listed here.
        </p>
      </header>
      <div className="in-card stack">
        {confirmedReferences.length > 0 && (
          <ul className="row">
            {confirmedReferences.map(({ reference, confirmTime }) => (
              <li key={reference} className="tag" title={`confirmed ${day(confirmTime)}`}>
                <code>
                  <bdi>{reference}</bdi>
                </code>
              </li>
            ))}
          </ul>
        )}
        <p className="soft">
          Files are read only where the agent runs. This shows their rows, days, columns and faults; nothing
          is sent or charged:
        </p>
        <CommandLine command="mex provider check --config provider.json" />
      </div>
    </section>
  );
}
