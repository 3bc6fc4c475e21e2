/** The party's certificates at the exchange, with the remaining days. */
import { type Certificate, PREFERRED } from '@measurement-exchange/contract';
import { useEffect, useState } from 'react';
import { count, day, fromTo } from '../../../format.ts';
import { useResource } from '../../../live/useResource.ts';
import { Breakable } from '../../../parts/Breakable.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { CommandLine } from '../../../parts/CommandLine.tsx';
import { Icon } from '../../../parts/Icon.tsx';
import { ifFound } from '../../../parts/ifFound.ts';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import { daysLeft, fingerprintOf, SOON_DAYS } from './days.ts';

export function Certificates() {
  const query = useResource('certificates', [], async ({ client, principal }) => {
    const [preferred, certificates] = await Promise.all([
      ifFound(client.getCertificate({ name: `${principal}/certificates/${PREFERRED}` })),
      Array.fromAsync(client.listCertificates({ parent: principal })),
    ]);
    return { preferred: preferred?.name, certificates };
  });
  return (
    <Loaded query={query}>
      {({ preferred, certificates }) => (
        <>
          <Ending certificate={certificates.find(({ name }) => name === preferred)} />
          <section className="card">
            <header>
              <h2>Your certificates</h2>
              <p>Others verify with them what you sign. The exchange shows the preferred one first.</p>
            </header>
            {certificates.length === 0 ? (
              <Empty title="No certificate is registered">
                <p>Ask the operator of the exchange to add yours: nobody can verify what you sign.</p>
              </Empty>
            ) : (
              <Table certificates={certificates} preferred={preferred} />
            )}
          </section>
        </>
      )}
    </Loaded>
  );
}

function Ending({ certificate }: { certificate: Certificate | undefined }) {
  const { principal } = useSession();
  if (certificate === undefined) return null;
  const left = daysLeft(certificate.notAfter);
  if (left > SOON_DAYS) return null;
  const id = idOf(principal);
  return (
    <div className={left < 0 ? 'note bad' : 'note warn'}>
      <Icon name={left < 0 ? 'x' : 'warn'} />
      <div className="stack tight">
        <p>
          <b>{left < 0 ? 'Your certificate has ended.' : `Your certificate ends in ${inDays(left)}.`}</b> From{' '}
          {day(certificate.notAfter)} on, nobody accepts anything new that you sign. Renewing keeps your root
          and your encryption key, and interrupts nothing:
        </p>
        <CommandLine command={`mex identity create ${principal} --renew ${id} --out ${id}-renewed`} />
      </div>
    </div>
  );
}

const inDays = (days: number) => (days === 1 ? '1 day' : `${count(days)} days`);

function Table({ certificates, preferred }: { certificates: Certificate[]; preferred: string | undefined }) {
  const sorted = certificates.toSorted(
    (a, b) =>
      Number(b.name === preferred) - Number(a.name === preferred) || b.notAfter.localeCompare(a.notAfter),
  );
  return (
    <table className="fold">
      <thead>
        <tr>
          <th>Certificate</th>
          <th>State</th>
          <th>Valid</th>
          <th>Left</th>
        </tr>
      </thead>
      <tbody>
        {sorted.map((certificate) => (
          <tr key={certificate.name}>
            <td>
              <span className="ttl mono">{idOf(certificate.name!)}</span>
              {certificate.name === preferred && <span className="sub">Preferred: used for what is new</span>}
              <Fingerprint der={certificate.x509Der} />
            </td>
            <td data-l="State">
              <CertificateChip certificate={certificate} />
            </td>
            <td data-l="Valid" className="nowrap">
              {fromTo(certificate.notBefore, certificate.notAfter)}
            </td>
            <td data-l="Left" className="nowrap">
              {daysLeft(certificate.notAfter) < 0 ? 'ended' : inDays(daysLeft(certificate.notAfter))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CertificateChip({ certificate: { revocationState, notAfter } }: { certificate: Certificate }) {
  if (revocationState !== undefined) {
    return (
      <Chip tone="bad" icon="x">
        {revocationState === 'HOLD' ? 'On hold' : 'Revoked'}
      </Chip>
    );
  }
  const left = daysLeft(notAfter);
  if (left < 0) {
    return (
      <Chip tone="bad" icon="x">
        Ended
      </Chip>
    );
  }
  return left <= SOON_DAYS ? (
    <Chip tone="warn" icon="clock">
      Ends soon
    </Chip>
  ) : (
    <Chip tone="ok" icon="check">
      Valid
    </Chip>
  );
}

function Fingerprint({ der }: { der: Uint8Array }) {
  const [text, setText] = useState<string>();
  useEffect(() => {
    void fingerprintOf(der).then(setText);
  }, [der]);
  return text === undefined ? null : (
    <code className="finger">
      <Breakable text={text} />
    </code>
  );
}
