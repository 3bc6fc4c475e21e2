import { type Computation, type Explanation, stepsOf } from '@measurement-exchange/contract';
import { duration } from '../../format.ts';
import { inWords, useNames } from '../../parts/names.ts';
import { stageWords } from '../../parts/stageWords.ts';
import { useSession } from '../../session/session.ts';
import { PARTICIPANTS, ROLES } from './computations.ts';

/** Matches the name of a stage, such as `SETUP_PHASE`, in an explanation from the exchange. */
const STAGE = /\b[A-Z]+_PHASE(?:_[A-Z]+)?\b/;
const stageIn = (stage: string) => `“${stageWords(stage).stage}”`;

export function Participants({
  computation: { participants, protocolConfig, state: reached },
  explanation,
}: {
  computation: Computation;
  explanation: Explanation;
}) {
  const nameOf = useNames();
  const { principal } = useSession();
  const steps = stepsOf(protocolConfig);
  const waits = explanation.waitingFor.some(({ party }) => party in participants);
  return (
    <section className="card">
      <header>
        <h2>Who computes it</h2>
        <p>
          A stage starts when those before it are done. While a duchy works, you see its stage and its
          attempt. Durations are in the log of each duchy, bytes in its metrics (
          <code>mex_duchy_received_bytes_total</code>, <code>mex_duchy_sent_bytes_total</code>): the exchange
          does not learn bytes, and shows durations only to the advertiser.
        </p>
      </header>
      <table className="fold dense rows">
        <thead>
          <tr>
            <th>Duchy</th>
            <th>Role</th>
            <th>Stages, in their order</th>
            <th>State</th>
            {waits && <th>Now</th>}
          </tr>
        </thead>
        <tbody>
          {[...new Set([...steps.map(({ duchy }) => duchy), ...Object.keys(participants)])].map((duchy) => {
            const { role, state } = participants[duchy]!;
            const wait = explanation.waitingFor.find(({ party }) => party === duchy);
            return (
              <tr key={duchy}>
                <td>
                  <b>
                    <bdi>{nameOf(duchy)}</bdi>
                  </b>
                </td>
                <td data-l="Role" className="nowrap">
                  {ROLES[role]}
                </td>
                <td data-l="Stages">
                  {steps
                    .filter((step) => step.duchy === duchy)
                    .map(({ step, stage }) => `${step} ${stageWords(stage).stage}`)
                    .join(' · ')}
                </td>
                <td data-l="State" className="nowrap">
                  {reached === 'SUCCEEDED' ? 'has done its part' : PARTICIPANTS[state]}
                </td>
                {waits && (
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
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
