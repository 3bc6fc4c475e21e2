/** The page of one computation. It shows the reason for waiting, the stages of each duchy, and the uploads so far. */
import type { Computation, Explanation } from '@measurement-exchange/contract';
import { useParams } from '@tanstack/react-router';
import { moment } from '../../format.ts';
import { pollMs } from '../../live/pollMs.ts';
import { useResource } from '../../live/useResource.ts';
import { RequestChip } from '../../parts/Chip.tsx';
import { CopyLink } from '../../parts/CopyLink.tsx';
import { ExplanationCard } from '../../parts/ExplanationCard.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { partyName, useNames } from '../../parts/names.ts';
import { PageHead } from '../../parts/PageHead.tsx';
import { specWords } from '../../parts/specWords.ts';
import { Loaded } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { ComputationChip } from './ComputationChip.tsx';
import { computationTitle, remedyFor } from './computations.ts';
import { Facts } from './Facts.tsx';
import { Participants } from './Participants.tsx';

export default function ComputationPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { principal } = useSession();
  const name = `${principal}/computations/${id}`;
  const query = useResource(
    'computations',
    ['one', name],
    async ({ client }, signal) => {
      const [computation, explanation] = await Promise.all([
        client.getComputation({ name, signal }),
        client.explainComputation({ name, signal }),
      ]);
      return { computation, explanation };
    },
    { refetchInterval: ({ state: { data } }) => pollMs(data?.computation.state) },
  );
  return (
    <>
      {query.data === undefined && <PageHead above={ABOVE} title={`Computation ${id}`} />}
      <Loaded query={query}>{(data) => <Shown {...data} />}</Loaded>
    </>
  );
}

const ABOVE = { to: '/computations', text: 'Computations' };

function Shown({ computation, explanation }: { computation: Computation; explanation: Explanation }) {
  const { createTime, failure, measurementConsumer, measurementSpec, state } = computation;
  const nameOf = useNames();
  const { principal } = useSession();
  return (
    <>
      <PageHead
        above={ABOVE}
        title={`${specWords(measurementSpec.message)!.what}, for ${partyName(measurementConsumer)}`}
        meta={[
          <ComputationChip key="state" state={state} />,
          ...(createTime ? [`Created ${moment(createTime)}`] : []),
        ]}
        actions={<CopyLink />}
      />
      <ExplanationCard
        explanation={explanation}
        title={computationTitle(explanation, computation, nameOf)}
        remedy={remedyFor(explanation, principal, nameOf)}
      />
      {failure && (
        <div className="note bad">
          <Icon name="x" />
          <div>
            <p>
              <bdi>{failure.message}</bdi>
            </p>
            <p className="xs">
              <code>{failure.reason}</code>
            </p>
          </div>
        </div>
      )}
      <Participants computation={computation} explanation={explanation} />
      <div className="cols c75">
        <Data computation={computation} />
        <Facts computation={computation} />
      </div>
    </>
  );
}

function Data({ computation: { requisitions } }: { computation: Computation }) {
  const received = requisitions.filter(({ state }) => state === 'FULFILLED').length;
  return (
    <section className="card">
      <header>
        <h2>
          Data of {received} of {requisitions.length} publishers is there
        </h2>
      </header>
      <table className="fold dense">
        <thead>
          <tr>
            <th>Publisher</th>
            <th>Goes to</th>
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {requisitions.map(({ name, dataProvider, fulfillingDuchy, state }) => (
            <tr key={name}>
              <td>
                <bdi>{partyName(dataProvider)}</bdi>
              </td>
              <td data-l="Goes to">
                <bdi>{partyName(fulfillingDuchy)}</bdi>
              </td>
              <td data-l="State">
                <RequestChip state={state} deferral={undefined} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
