import type { PrincipalBinding } from '@measurement-exchange/contract';
import { useState } from 'react';
import { day } from '../../../format.ts';
import { ConfirmDialog } from '../../../parts/Dialog.tsx';
import { useSession } from '../../../session/session.ts';
import { useRefresh } from '../data.ts';
import { PartyLink } from '../PartyLink.tsx';

export function PrincipalTable({ principals }: { principals: readonly PrincipalBinding[] }) {
  const [unbinding, setUnbinding] = useState<PrincipalBinding>();
  return (
    <>
      <table className="fold">
        <thead>
          <tr>
            <th>Speaks for</th>
            <th>Subject</th>
            <th>Issuer</th>
            <th>Since</th>
            <th>
              <span className="sr">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {principals.map((principal) => (
            <tr key={principal.name}>
              <td>
                <PartyLink name={principal.resource} />
                <span className="sub mono">{principal.resource}</span>
              </td>
              <td data-l="Subject" className="mono">
                <bdi>{principal.subject}</bdi>
              </td>
              <td data-l="Issuer" className="mono">
                <bdi>{principal.issuer}</bdi>
              </td>
              <td data-l="Since" className="nowrap">
                {principal.createTime && day(principal.createTime)}
              </td>
              <td data-l="" className="num">
                <button type="button" className="btn sm danger" onClick={() => setUnbinding(principal)}>
                  Unbind<span className="sr"> {principal.subject}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {unbinding && <UnbindDialog principal={unbinding} onClose={() => setUnbinding(undefined)} />}
    </>
  );
}

function UnbindDialog({ principal, onClose }: { principal: PrincipalBinding; onClose: () => void }) {
  const { client } = useSession();
  const refresh = useRefresh();
  const { name, subject, issuer, resource } = principal;
  const confirm = async () => {
    await client.deletePrincipal({ name: name! });
    await refresh();
  };
  return (
    <ConfirmDialog title="Unbind this sign-in?" verb="Unbind sign-in" onConfirm={confirm} onClose={onClose}>
      <p>
        Tokens of <bdi className="mono">{subject}</bdi> from <bdi className="mono">{issuer}</bdi> are rejected
        at once, within 30 s at every replica.
      </p>
      <p>
        {resource === 'operator'
          ? 'It is a sign-in of an operator. If it is yours, you lose access to this page.'
          : `Other sign-ins of ${resource} stay. You can bind it again.`}
      </p>
    </ConfirmDialog>
  );
}
