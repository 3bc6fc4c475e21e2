import { type Computation, type Explanation, stepsOf } from '@measurement-exchange/contract';
import { duration } from '../../parts/format.ts';
import { inWords, useNames } from '../../parts/names.ts';
import { useSession } from '../../session/session.ts';
import { stageWords } from '../consumer/one/stages.ts';
import { PARTICIPANTS, ROLES } from './computations.ts';

/** A stage in a sentence of the exchange. */
const STAGE = /\b[A-Z]+_PHASE(?:_[A-Z]+)?\b/;
const stageIn = (stage: string) => `“${stageWords(stage).stage}”`;

/** The duchies of a computation, the stages that each runs, and what each does now. */
export function Participants({
  computation: { participants, protocolConfig },
  explanation,
}: {
  computation: Computation;
  explanation: Explanation;
}) {
  const nameOf = useNames();
  const { principal } = useSession();
  const steps = stepsOf(protocolConfig);
  return (
    <section className="card">
      <header>
        <h2>Who computes it</h2>
        <p>
          A stage starts when those before it are done. Attempts and durations are in the log of each duchy;
          bytes are in its metrics (<code>mex_duchy_received_bytes_total</code>,{' '}
          <code>mex_duchy_sent_bytes_total</code>).
        </p>
      </header>
      <table className="fold dense">
        <thead>
          <tr>
            <th>Duchy</th>
            <th>Role</th>
            <th>Stages, in their order</th>
            <th>State</th>
            <th>Now</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(participants).map(([duchy, { role, state }]) => {
            const wait = explanation.waitingFor.find(({ party }) => party === duchy);
            return (
              <tr key={duchy}>
                <td>
                  <b>
                    <bdi>{nameOf(duchy)}</bdi>
                  </b>
                </td>
                <td data-l="Role">{ROLES[role]}</td>
                <td data-l="Stages">
                  {steps
                    .filter((step) => step.duchy === duchy)
                    .map(({ step, stage }) => `${step} ${stageWords(stage).stage}`)
                    .join(' · ')}
                </td>
                <td data-l="State">{PARTICIPANTS[state]}</td>
                <td data-l="Now">
                  {wait && (
                    <>
                      {duchy === principal
                        ? 'your turn'
                        : inWords(wait.detail, nameOf).replace(STAGE, stageIn)}
                      <span className="sub">for {duration(Date.now() - Date.parse(wait.since))}</span>
                    </>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
