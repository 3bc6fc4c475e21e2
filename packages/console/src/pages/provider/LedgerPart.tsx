import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { LedgerView } from '../../companion/methods.ts';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { Icon } from '../../parts/Icon.tsx';
import { Loaded, NeedsKey } from '../../parts/states.tsx';
import { idOf } from '../../session/roles.ts';
import { useSession } from '../../session/session.ts';

/** Shows the contents of the agent's ledger, or explains why the console cannot read the ledger. */
export function LedgerPart<T>({
  query,
  children,
}: {
  query: UseQueryResult<LedgerView<T>>;
  children: (view: T) => ReactNode;
}) {
  const { companion, principal } = useSession();
  if (companion === undefined) return <NeedsKey what="The agent keeps its ledger on its own machine." />;
  return (
    <Loaded query={query}>
      {(ledger) =>
        'view' in ledger ? (
          children(ledger.view)
        ) : (
          <div className="note warn">
            <Icon name="warn" />
            <div className="stack tight">
              <p>
                <bdi>{ledger.missing}</bdi>
              </p>
              <p>Where the agent runs, this shows the same:</p>
              <CommandLine command={`mex provider status --as ${idOf(principal)}`} />
            </div>
          </div>
        )
      }
    </Loaded>
  );
}
