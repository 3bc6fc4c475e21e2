import type { HeldQuestion } from '@measurement-exchange/sdk/provider';
import type { ReactNode } from 'react';
import { ago } from '../../format.ts';
import { A } from '../../parts/A.tsx';
import { Chip } from '../../parts/Chip.tsx';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { partyName } from '../../parts/names.ts';
import { idOf } from '../../session/roles.ts';

export function HeldLink({ held }: { held: HeldQuestion }) {
  return (
    <HeldCard held={held}>
      <A className="btn" to={`/requests/${idOf(held.requisition)}`}>
        Open the request
      </A>
    </HeldCard>
  );
}

/** Shows a request that the agent holds until the provider's operator confirms the request's event group references. */
export function HeldCard({ held, children }: { held: HeldQuestion; children: ReactNode }) {
  const references = held.references.join(', ');
  return (
    <section className="card why warn">
      <div className="in-card stack">
        <div className="row">
          <Chip tone="warn" icon="clock">
            Held for you
          </Chip>
          <span className="xs muted">
            from <bdi>{partyName(held.measurementConsumer)}</bdi>, {ago(held.since)}
          </span>
        </div>
        <h2>
          Nobody has confirmed <bdi>{references}</bdi>
        </h2>
        <p className="soft">
          Before the agent answers about a reference for the first time, somebody looks at what your files
          have for it: a misspelled reference would otherwise be answered with a figure near zero, signed by
          you. <b>Nothing was charged or sent.</b> This shows the rows, and confirms them:
        </p>
        <CommandLine command="mex provider check --config provider.json --confirm" />
        <div className="acts">{children}</div>
      </div>
    </section>
  );
}
