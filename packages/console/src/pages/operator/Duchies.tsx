/** The duchies, and the protocols that each publisher accepts. */
import type { Duchy, PartyHealth } from '@measurement-exchange/contract';
import { Breakable } from '../../parts/Breakable.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { PROTOCOL_WORDS } from '../../parts/protocols.ts';
import { Empty, Loaded } from '../../parts/states.tsx';
import { type Party, useHealth, useParties } from './data.ts';
import { openWords } from './health.ts';
import { LifeBar } from './LifeBar.tsx';
import './operator.css';
import { PartyLink } from './PartyLink.tsx';
import { HealthChip } from './parties/PartyTable.tsx';

export default function Duchies() {
  const parties = useParties();
  const health = useHealth();
  return (
    <>
      <PageHead title="Duchies and protocols" />
      <section className="card">
        <header>
          <h2>Duchies</h2>
          <p>
            Independent servers that count people across publishers without seeing who they are. A protocol is
            offered only while all of its duchies are active.
          </p>
        </header>
        <Loaded query={parties}>
          {(parties) => (
            <Loaded query={health}>{(health) => <DuchyTable parties={parties} health={health} />}</Loaded>
          )}
        </Loaded>
      </section>
      <Loaded query={parties}>{(parties) => <Protocols parties={parties} />}</Loaded>
    </>
  );
}

function DuchyTable({ parties, health }: { parties: readonly Party[]; health: readonly PartyHealth[] }) {
  const duchies = health.filter(({ name }) => name.startsWith('duchies/'));
  if (duchies.length === 0) {
    return (
      <Empty title="No duchy">
        <p>Without duchies each publisher answers alone, and nobody is counted across publishers.</p>
      </Empty>
    );
  }
  const endpointOf = (name: string) =>
    (parties.find((party) => party.name === name) as Duchy | undefined)?.endpoint;
  return (
    <table className="fold">
      <thead>
        <tr>
          <th>Duchy</th>
          <th>State</th>
          <th>Address</th>
          <th>Certificate</th>
          <th className="num">Open work</th>
        </tr>
      </thead>
      <tbody>
        {duchies.map((duchy) => (
          <tr key={duchy.name}>
            <td>
              <PartyLink name={duchy.name} displayName={duchy.displayName} />
              <span className="sub mono">{duchy.name}</span>
            </td>
            <td data-l="State">
              <HealthChip health={duchy} />
            </td>
            <td data-l="Address" className="mono">
              <bdi>
                <Breakable text={endpointOf(duchy.name) ?? 'none'} />
              </bdi>
            </td>
            <td data-l="Certificate">
              <LifeBar notAfter={duchy.certificate?.notAfter} />
            </td>
            <td data-l="Open work" className="num">
              {openWords(duchy)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const PROTOCOLS = ['honestMajorityShareShuffle', 'reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const;

function Protocols({ parties }: { parties: readonly Party[] }) {
  const publishers = parties.filter(({ name }) => name!.startsWith('dataProviders/'));
  const supporting = (protocol: (typeof PROTOCOLS)[number]) =>
    publishers.filter((party) => 'capabilities' in party && party.capabilities?.[`${protocol}Supported`]);
  return (
    <section className="card">
      <header>
        <h2>Protocols</h2>
        <p>
          A measurement uses a protocol only if all of its publishers support it. Each of them can also answer
          alone.
        </p>
      </header>
      <table className="fold">
        <thead>
          <tr>
            <th>Protocol</th>
            <th className="num">Publishers</th>
            <th>Who supports it</th>
          </tr>
        </thead>
        <tbody>
          {PROTOCOLS.map((protocol) => {
            const able = supporting(protocol);
            return (
              <tr key={protocol}>
                <td>
                  <b>{PROTOCOL_WORDS[protocol].label}</b>
                  <span className="sub mono">
                    <Breakable text={protocol} />
                  </span>
                </td>
                <td data-l="Publishers" className="num">
                  {able.length} of {publishers.length}
                </td>
                <td data-l="Who">
                  <span className="row tags">
                    {able.map(({ name, displayName }) => (
                      <PartyLink key={name} name={name!} displayName={displayName} />
                    ))}
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
