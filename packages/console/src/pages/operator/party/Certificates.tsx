import type { Certificate } from '@measurement-exchange/contract';
import { type CertificateFacts, describeCertificate } from '@measurement-exchange/sdk/onboarding';
import { fromTo } from '../../../format.ts';
import { useResource } from '../../../live/useResource.ts';
import { Breakable } from '../../../parts/Breakable.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { subjectName } from '../../../parts/names.ts';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { idOf } from '../../../session/roles.ts';
import { WHOLE_LIST } from '../data.ts';
import { LifeBar } from '../LifeBar.tsx';

interface Described {
  certificate: Certificate;
  /** Undefined if the browser cannot parse the certificate. */
  facts: CertificateFacts | undefined;
}

export function Certificates({ party }: { party: string }) {
  const query = useResource('certificates', [party], async ({ client }, signal): Promise<Described[]> => {
    const list = await Array.fromAsync(client.listCertificates({ parent: party, ...WHOLE_LIST, signal }));
    const described = list.map(async (certificate) => ({
      certificate,
      facts: await describeCertificate(certificate.x509Der).catch(() => undefined),
    }));
    return (await Promise.all(described)).reverse();
  });
  return (
    <section className="card">
      <header>
        <h2>Certificates</h2>
      </header>
      <Loaded query={query}>
        {(certificates) =>
          certificates.length === 0 ? (
            <Empty title="No certificate">
              <p>Others cannot verify anything that it signs. Add the party again with its party.json.</p>
            </Empty>
          ) : (
            <CertificateTable certificates={certificates} />
          )
        }
      </Loaded>
    </section>
  );
}

function CertificateTable({ certificates }: { certificates: Described[] }) {
  return (
    <table className="fold">
      <thead>
        <tr>
          <th>Certificate</th>
          <th>State</th>
          <th>SHA-256 fingerprint</th>
          <th>Time left</th>
        </tr>
      </thead>
      <tbody>
        {certificates.map(({ certificate, facts }) => (
          <tr key={certificate.name}>
            <td>
              <bdi className="ttl">{facts ? subjectName(facts.subject) : 'Not readable here'}</bdi>
              <span className="sub mono nowrap">{idOf(certificate.name!)}</span>
            </td>
            <td data-l="State">
              <CertificateChip certificate={certificate} />
            </td>
            <td data-l="Fingerprint" className="mono xs">
              {facts && <Breakable text={facts.fingerprint} />}
            </td>
            <td data-l="Time left">
              <LifeBar notAfter={certificate.notAfter} />
              <span className="sub">{fromTo(certificate.notBefore, certificate.notAfter)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CertificateChip({
  certificate: { revocationState, notBefore, notAfter },
}: {
  certificate: Certificate;
}) {
  const now = Date.now();
  if (revocationState === 'REVOKED') {
    return (
      <Chip tone="bad" icon="x">
        Revoked
      </Chip>
    );
  }
  if (revocationState === 'HOLD') {
    return (
      <Chip tone="warn" icon="clock">
        On hold
      </Chip>
    );
  }
  if (Date.parse(notAfter) < now) {
    return (
      <Chip tone="bad" icon="x">
        Ended
      </Chip>
    );
  }
  if (Date.parse(notBefore) > now) {
    return (
      <Chip tone="warn" icon="clock">
        Not yet valid
      </Chip>
    );
  }
  return (
    <Chip tone="ok" icon="check">
      Valid
    </Chip>
  );
}
