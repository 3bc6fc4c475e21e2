import { ConfirmDialog } from '../../../parts/Dialog.tsx';
import { idOf, roleOf } from '../../../session/roles.ts';
import { useSession } from '../../../session/session.ts';
import { type Party, useHealth, useRefresh } from '../data.ts';
import { countWords } from '../health.ts';

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
        <Effects name={name} />
      )}
    </ConfirmDialog>
  );
}

const OPEN_WORK = {
  consumer: (n: string) => `Its ${n} open measurements go on. It reads their results once it is resumed.`,
  provider: (n: string) =>
    `No new measurement may name it. The ${n} requests that it has not answered stay open.`,
  duchy: (n: string) =>
    `No protocol that needs it is offered. The ${n} computations in which it takes part wait for it.`,
  operator: () => '',
};
const NO_WORK = {
  consumer: 'It has no open measurement.',
  provider: 'No new measurement may name it. No request waits for it.',
  duchy: 'No protocol that needs it is offered. No computation waits for it.',
  operator: '',
};

function Effects({ name }: { name: string }) {
  const role = roleOf(name);
  const health = useHealth().data?.find((each) => each.name === name);
  return (
    <>
      <p>
        Its tokens are rejected at once, within 30 s at every replica, and nothing is sent to its webhooks.
      </p>
      {health && <p>{health.open.count > 0 ? OPEN_WORK[role](countWords(health.open)) : NO_WORK[role]}</p>}
      <p>You can resume it at any time.</p>
    </>
  );
}
