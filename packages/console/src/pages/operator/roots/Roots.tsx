/**
 * Trusted roots: the authorities whose certificates the exchange accepts. A root is trusted for one party, or for every
 * party that has no root of its own.
 */
import type { TrustedRoot } from '@measurement-exchange/contract';
import { describeCertificate } from '@measurement-exchange/sdk/onboarding';
import { useState } from 'react';
import { useResource } from '../../../live/useResource.ts';
import { Breakable } from '../../../parts/Breakable.tsx';
import { ConfirmDialog } from '../../../parts/Dialog.tsx';
import { subjectName } from '../../../parts/names.ts';
import { PageHead } from '../../../parts/PageHead.tsx';
import { Empty, Loaded } from '../../../parts/states.tsx';
import { useSession } from '../../../session/session.ts';
import { useRefresh, useTrustedRoots, WHOLE_LIST } from '../data.ts';
import { LifeBar } from '../LifeBar.tsx';
import '../operator.css';
import { PartyLink } from '../PartyLink.tsx';
import { AddRoot } from './AddRoot.tsx';
import { effectOfRemoval } from './effects.ts';

export default function Roots() {
  const query = useTrustedRoots();
  return (
    <>
      <PageHead title="Trusted roots" meta={['Certificates of parties must come from one of these']} />
      <div className="cols c75">
        <section className="card">
          <header>
            <h2>Roots</h2>
            <p>
              A party with roots of its own is held to those. Where no root applies, certificates are not
              checked.
            </p>
          </header>
          <Loaded query={query}>
            {(roots) =>
              roots.length === 0 ? (
                <Empty title="No root is trusted">
                  <p>The exchange accepts every certificate that a party registers.</p>
                </Empty>
              ) : (
                <RootTable roots={roots} />
              )
            }
          </Loaded>
        </section>
        <AddRoot />
      </div>
    </>
  );
}

function RootTable({ roots }: { roots: readonly TrustedRoot[] }) {
  const [removing, setRemoving] = useState<TrustedRoot>();
  return (
    <>
      <table className="fold">
        <thead>
          <tr>
            <th>Root</th>
            <th>Trusted for</th>
            <th>Time left</th>
            <th>
              <span className="sr">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {roots.map((root) => (
            <RootRow key={root.name} root={root} remove={() => setRemoving(root)} />
          ))}
        </tbody>
      </table>
      {removing && <RemovalDialog root={removing} roots={roots} onClose={() => setRemoving(undefined)} />}
    </>
  );
}

function RootRow({ root, remove }: { root: TrustedRoot; remove: () => void }) {
  const { data: facts } = useResource(
    'trustedRoots',
    [root.name, 'facts'],
    () => describeCertificate(root.x509Der!),
    {
      enabled: root.x509Der !== undefined,
      staleTime: Number.POSITIVE_INFINITY,
    },
  );
  const subject = facts && subjectName(facts.subject);
  return (
    <tr>
      <td>
        <bdi className="ttl">{subject ?? root.name}</bdi>
        <span className="sub mono">{facts && <Breakable text={facts.fingerprint} />}</span>
      </td>
      <td data-l="Trusted for">{root.party ? <PartyLink name={root.party} /> : 'Every party'}</td>
      <td data-l="Time left">
        <LifeBar notAfter={root.notAfter} />
      </td>
      <td data-l="" className="num">
        <button type="button" className="btn sm danger" onClick={remove}>
          Remove<span className="sr"> {subject}</span>
        </button>
      </td>
    </tr>
  );
}

function RemovalDialog({
  root,
  roots,
  onClose,
}: {
  root: TrustedRoot;
  roots: readonly TrustedRoot[];
  onClose: () => void;
}) {
  const { client } = useSession();
  const refresh = useRefresh();
  const confirm = async () => {
    await client.deleteTrustedRoot({ name: root.name! });
    await refresh();
  };
  return (
    <ConfirmDialog title="Stop trusting this root?" verb="Remove root" onConfirm={confirm} onClose={onClose}>
      <p>{effectOfRemoval(root, roots)}</p>
      <RestsOnIt root={root} />
      <p>
        Open measurements go on. New ones with a certificate that no root vouches for are rejected where the
        exchange checks strictly, and get a finding elsewhere. You can add the root again.
      </p>
    </ConfirmDialog>
  );
}

/** For a root of one party, shows how many of the party's certificates name the root as their issuer. */
function RestsOnIt({ root }: { root: TrustedRoot }) {
  const { party } = root;
  const { data } = useResource(
    'certificates',
    [party, 'issued', root.name],
    async ({ client }, signal) => {
      const list = await Array.fromAsync(client.listCertificates({ parent: party!, ...WHOLE_LIST, signal }));
      const { subject } = await describeCertificate(root.x509Der!);
      const issuers = await Promise.all(
        list.map(async ({ x509Der }) => (await describeCertificate(x509Der)).issuer),
      );
      return issuers.filter((issuer) => issuer === subject).length;
    },
    { enabled: party !== undefined && root.x509Der !== undefined },
  );
  if (data === undefined) return null;
  return (
    <p>
      {data === 1 ? '1 certificate' : `${data} certificates`} of {party} {data === 1 ? 'rests' : 'rest'} on
      it.
    </p>
  );
}
