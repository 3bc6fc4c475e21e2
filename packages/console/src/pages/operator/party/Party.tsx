/** One party: whether it may call, its certificates, who speaks for it, and what was changed about it. */
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useResource } from '../../../live/useResource.ts';
import { A } from '../../../parts/A.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { day } from '../../../parts/format.ts';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Loaded } from '../../../parts/states.tsx';
import { idOf, ROLE_WORDS, roleOf } from '../../../session/roles.ts';
import { EVERY, type Party } from '../data.ts';
import '../operator.css';
import { Certificates } from './Certificates.tsx';
import { PartyAudit } from './PartyAudit.tsx';
import { SignIns } from './SignIns.tsx';
import { SuspensionDialog } from './SuspensionDialog.tsx';

export default function PartyPage() {
  const { kind, id } = useParams({ strict: false }) as { kind: string; id: string };
  const name = `${kind}/${id}`;
  const query = useResource(
    'parties',
    [name],
    ({ client }, signal) => client.getParty({ name, signal }),
    EVERY,
  );
  return (
    <>
      <p className="crumb">
        <A to="/parties">Parties</A>
      </p>
      <Loaded query={query}>{(party) => <Details party={party} />}</Loaded>
    </>
  );
}

function Details({ party }: { party: Party }) {
  const name = party.name!;
  const [asks, setAsks] = useState(false);
  const isSuspended = party.state === 'SUSPENDED';
  return (
    <>
      <PageHead
        title={party.displayName || idOf(name)}
        meta={[
          <PartyChip key="s" state={party.state} />,
          ROLE_WORDS[roleOf(name)],
          <span key="n" className="mono">
            {name}
          </span>,
          party.createTime && `since ${day(party.createTime)}`,
        ]}
        actions={
          <button
            type="button"
            className={isSuspended ? 'btn main' : 'btn danger'}
            onClick={() => setAsks(true)}
          >
            {isSuspended ? 'Resume' : 'Suspend'}
          </button>
        }
      />
      <Facts party={party} />
      <Certificates party={name} />
      <SignIns party={name} />
      <PartyAudit party={name} />
      {asks && <SuspensionDialog party={party} onClose={() => setAsks(false)} />}
    </>
  );
}

export function PartyChip({ state }: { state: Party['state'] }) {
  return state === 'ACTIVE' ? (
    <Chip tone="ok" icon="check">
      Active
    </Chip>
  ) : (
    <Chip icon="minus">Suspended</Chip>
  );
}

function Facts({ party }: { party: Party }) {
  const endpoint = 'endpoint' in party ? party.endpoint : undefined;
  const capabilities = 'capabilities' in party ? party.capabilities : undefined;
  const protocols = Object.entries(capabilities ?? {}).flatMap(([key, can]) =>
    can ? [key.replace('Supported', '')] : [],
  );
  return (
    <section className="card">
      <div className="in-card">
        <dl className="kv">
          <dt>Public key</dt>
          <dd>
            {party.publicKey ? 'Set, signed with its certificate' : 'None: nobody can encrypt for it yet'}
          </dd>
          {roleOf(party.name!) === 'duchy' && (
            <>
              <dt>Address</dt>
              <dd>
                {endpoint ? <bdi className="mono">{endpoint}</bdi> : 'None: publishers cannot reach it yet'}
              </dd>
            </>
          )}
          {roleOf(party.name!) === 'provider' && (
            <>
              <dt>Protocols</dt>
              <dd>{['direct', ...protocols].join(', ')}</dd>
            </>
          )}
        </dl>
      </div>
    </section>
  );
}
