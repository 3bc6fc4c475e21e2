/** The page of one party: its state, certificates, sign-ins, and audit entries. */
import { PROTOCOLS } from '@measurement-exchange/contract';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ago, day, moment } from '../../../format.ts';
import { useResource } from '../../../live/useResource.ts';
import { Chip } from '../../../parts/Chip.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { PROTOCOL_WORDS } from '../../../parts/protocols.ts';
import { Loaded } from '../../../parts/states.tsx';
import { idOf, ROLE_WORDS, roleOf } from '../../../session/roles.ts';
import { EVERY, type Party, useHealth } from '../data.ts';
import { countWords, openWords } from '../health.ts';
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
      {query.data === undefined && <PageHead above={ABOVE} title={id} />}
      <Loaded query={query}>{(party) => <Details party={party} />}</Loaded>
    </>
  );
}

const ABOVE = { to: '/parties', text: 'Parties' };

function Details({ party }: { party: Party }) {
  const name = party.name!;
  const [asks, setAsks] = useState(false);
  const isSuspended = party.state === 'SUSPENDED';
  return (
    <>
      <PageHead
        above={ABOVE}
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

function Work({ name }: { name: string }) {
  const health = useHealth().data?.find((each) => each.name === name);
  if (health === undefined) return null;
  const { lastSeen, open, openByAge, oldestOpenTime, webhooks } = health;
  return (
    <>
      <dt>Last seen</dt>
      <dd>{lastSeen ? <span title={moment(lastSeen)}>{ago(lastSeen)}</span> : 'Never'}</dd>
      <dt>Open work</dt>
      <dd>
        {open.count === 0
          ? 'None'
          : `${openWords(health)}, ${countWords(openByAge.older)} of them older than a day`}
        {oldestOpenTime && <span className="sub">The oldest since {moment(oldestOpenTime)}</span>}
      </dd>
      {webhooks.active + webhooks.paused > 0 && (
        <>
          <dt>Webhooks</dt>
          <dd>
            {webhooks.active - webhooks.failing} delivering, {webhooks.failing} failing, {webhooks.paused}{' '}
            paused
          </dd>
        </>
      )}
    </>
  );
}

function Facts({ party }: { party: Party }) {
  const endpoint = 'endpoint' in party ? party.endpoint : undefined;
  const capabilities = 'capabilities' in party ? party.capabilities : undefined;
  const protocols = PROTOCOLS.flatMap((protocol) =>
    protocol !== 'direct' && capabilities?.[`${protocol}Supported`] ? [PROTOCOL_WORDS[protocol].label] : [],
  );
  return (
    <section className="card">
      <div className="in-card">
        <dl className="kv">
          <Work name={party.name!} />
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
              <dd>{[PROTOCOL_WORDS.direct.label, ...protocols].join(', ')}</dd>
            </>
          )}
        </dl>
      </div>
    </section>
  );
}
