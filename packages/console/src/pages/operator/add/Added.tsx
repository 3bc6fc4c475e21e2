import type { Onboarding, OnboardingPiece } from '@measurement-exchange/sdk/onboarding';
import { A } from '../../../parts/A.tsx';
import { Chip } from '../../../parts/Chip.tsx';
import { PageHead } from '../../../parts/PageHead.tsx';
import { partyPath } from '../data.ts';
import type { CheckedFile } from './checkFile.ts';

export function Added({
  checked: { file, certificate },
  result,
  again,
}: {
  checked: CheckedFile;
  result: Onboarding;
  again: () => void;
}) {
  return (
    <>
      <PageHead
        title={`${file.displayName || file.name} is on board`}
        meta={[
          <span key="n" className="mono">
            {file.name}
          </span>,
        ]}
        actions={
          <>
            <button type="button" className="btn" onClick={again}>
              Add another party
            </button>
            <A className="btn main" to={partyPath(file.name)}>
              Open the party
            </A>
          </>
        }
      />
      <section className="card narrow">
        <table className="fold">
          <thead>
            <tr>
              <th>Registered</th>
              <th>State</th>
              <th>Name</th>
            </tr>
          </thead>
          <tbody>
            <Row what="Party" piece={result.party} />
            <Row what="Root, for its own certificates" piece={result.trustedRoot} />
            <Row what="Certificate" piece={result.certificate} more={certificate.fingerprint} />
            <Row what="Public key" piece={result.publicKey} />
            <Row what="Address" piece={result.endpoint} />
            <Row what="Sign-in" piece={result.principal} />
          </tbody>
        </table>
        <footer>
          <span>Every replica knows it within 30 s.</span>
          {result.party.state === 'SUSPENDED' && <span>The party is suspended: resume it on its page.</span>}
        </footer>
      </section>
    </>
  );
}

function Row({ what, piece, more }: { what: string; piece: OnboardingPiece | undefined; more?: string }) {
  if (piece === undefined) return null;
  return (
    <tr>
      <td>{what}</td>
      <td data-l="State">
        <Chip {...(piece.created && { tone: 'ok' as const })} icon={piece.created ? 'check' : 'minus'}>
          {piece.created ? 'Done' : 'Already there'}
        </Chip>
      </td>
      <td data-l="Name" className="mono xs">
        {piece.name ?? <span className="muted">in the party file</span>}
        {more && <span className="sub">SHA-256 {more}</span>}
      </td>
    </tr>
  );
}
