import { ConfirmDialog } from '../../../parts/Dialog.tsx';
import { idOf, roleOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import { type Party, useRefresh } from '../data.ts';

/** Suspends or resumes a party, after saying what happens then. */
export function SuspensionDialog({ party, onClose }: { party: Party; onClose: () => void }) {
  const { client } = useSession();
  const refresh = useRefresh();
  const name = party.name!;
  const label = party.displayName || idOf(name);
  const isSuspended = party.state === 'SUSPENDED';
  const confirm = async () => {
    await (isSuspended ? client.resumeParty({ name }) : client.suspendParty({ name }));
    await refresh();
  };
  return (
    <ConfirmDialog
      title={isSuspended ? `Resume ${label}?` : `Suspend ${label}?`}
      verb={isSuspended ? 'Resume party' : 'Suspend party'}
      keep={isSuspended ? 'Keep it suspended' : 'Keep it active'}
      onConfirm={confirm}
      onClose={onClose}
    >
      {isSuspended ? (
        <p>
          Its tokens are accepted again at once, within 30 s at every replica. What waited for it continues.
        </p>
      ) : (
        <Effects role={roleOf(name)} />
      )}
    </ConfirmDialog>
  );
}

function Effects({ role }: { role: ReturnType<typeof roleOf> }) {
  return (
    <>
      <p>
        Its tokens are rejected at once, within 30 s at every replica, and nothing is sent to its webhooks.
      </p>
      {role === 'provider' && (
        <p>No new measurement may name it. Requests that it has not answered stay open.</p>
      )}
      {role === 'consumer' && <p>Its open measurements go on. It reads their results once it is resumed.</p>}
      {role === 'duchy' && (
        <p>No protocol that needs it is offered. Computations in which it takes part wait for it.</p>
      )}
      <p>You can resume it at any time.</p>
    </>
  );
}
