/** The roots and duchies that the party trusts, as configured on its own machine. */
import type { About } from '../../../companion/methods.ts';
import { day } from '../../../format.ts';
import { Breakable } from '../../../parts/Breakable.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { partyName, subjectName } from '../../../parts/names.ts';
import { useSession } from '../../../session/session.ts';
import { daysLeft } from './days.ts';

export function Trust({ about: { certificate, roots, duchies } }: { about: About }) {
  const { role } = useSession();
  return (
    <>
      {certificate?.isOwn === false && (
        <div className="note bad" role="alert">
          <Icon name="x" tone="bad" />
          <div>
            <p>
              <b>The exchange shows a certificate that is not yours.</b> It belongs to another key than the
              one on this machine. Call the operator, and do not sign anything until this is explained.
            </p>
          </div>
        </div>
      )}
      <section className="card">
        <header>
          <h2>Roots you trust</h2>
          <p>
            You accept a signature only if its certificate comes from one of these. Compare each fingerprint
            with its owner over another channel, such as the phone.
          </p>
        </header>
        <Roots roots={roots} />
        <footer>
          <span>They come from your own files, and not from the exchange.</span>
        </footer>
      </section>
      {role === 'consumer' && <Duchies duchies={duchies} />}
    </>
  );
}

function Roots({ roots }: Pick<About, 'roots'>) {
  return (
    <table className="fold">
      <thead>
        <tr>
          <th>Root</th>
          <th>Trusted for</th>
          <th>Valid until</th>
        </tr>
      </thead>
      <tbody>
        {roots.map(({ party, subject, fingerprint, notAfter }) => (
          <tr key={`${party} ${fingerprint}`}>
            <td>
              <bdi className="ttl">{subjectName(subject)}</bdi>
              <code className="finger">
                <Breakable text={fingerprint} />
              </code>
            </td>
            <td data-l="Trusted for">
              {party ? <bdi className="mono">{party}</bdi> : 'Everybody without a root of their own'}
            </td>
            <td data-l="Valid until" className="nowrap">
              {day(notAfter)}
              {daysLeft(notAfter) < 0 && <span className="sub bad">ended</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Duchies({ duchies }: Pick<About, 'duchies'>) {
  return (
    <section className="card">
      <header>
        <h2>Duchies you accept</h2>
        <p>Only these may compute figures over several publishers for you.</p>
      </header>
      <div className="in-card">
        {duchies.length === 0 ? (
          <p className="soft">
            None. Each publisher computes alone, and people reached by several are counted several times.
          </p>
        ) : (
          <ul className="row">
            {duchies.map((duchy) => (
              <li key={duchy} className="chip ok">
                <Icon name="check" />
                <bdi title={duchy}>{partyName(duchy)}</bdi>
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}
