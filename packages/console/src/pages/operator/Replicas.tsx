/** The replicas of the exchange, and the state of its database. */

import { ago, moment } from '../../format.ts';
import { Chip } from '../../parts/Chip.tsx';
import { PageHead } from '../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../parts/states.tsx';
import { useExchangeStatus } from './data.ts';
import './operator.css';

export default function Replicas() {
  const query = useExchangeStatus();
  return (
    <>
      <PageHead title="Replicas and migrations" />
      <Loaded query={query}>
        {({ version, mode, schema, replicas }) => (
          <>
            <section className="card">
              <header>
                <h2>Database</h2>
              </header>
              <div className="in-card">
                <dl className="kv">
                  <dt>Migration</dt>
                  <dd>
                    {schema.migration}, <span className="mono">{schema.name}</span>
                  </dd>
                  <dt>Applied</dt>
                  <dd>{moment(schema.applyTime)}</dd>
                  <dt>Mode</dt>
                  <dd>{mode}</dd>
                </dl>
              </div>
            </section>
            <section className="card">
              <header>
                <h2>Replicas</h2>
                <p>Seen within the last 3 minutes. Version {version} answered this page.</p>
              </header>
              {replicas.length === 0 ? (
                <Empty title="No replica has reported yet" />
              ) : (
                <table className="fold">
                  <thead>
                    <tr>
                      <th>Replica</th>
                      <th>Version</th>
                      <th>Host</th>
                      <th>Started</th>
                      <th>Last seen</th>
                    </tr>
                  </thead>
                  <tbody>
                    {replicas.map((replica) => (
                      <tr key={replica.name}>
                        <td className="mono">{replica.name}</td>
                        <td data-l="Version">
                          <Chip
                            tone={replica.version === version ? 'ok' : 'warn'}
                            icon={replica.version === version ? 'check' : 'warn'}
                          >
                            {replica.version}
                          </Chip>
                        </td>
                        <td data-l="Host">
                          <bdi>{replica.host}</bdi>
                        </td>
                        <td data-l="Started">{moment(replica.startTime)}</td>
                        <td data-l="Last seen">{ago(replica.lastSeen)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              )}
            </section>
          </>
        )}
      </Loaded>
    </>
  );
}
