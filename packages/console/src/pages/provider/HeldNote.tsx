import type { HeldQuestion } from '@measurement-exchange/sdk/provider';
import { A } from '../../parts/A.tsx';
import { Chip } from '../../parts/Chip.tsx';
import { CommandLine } from '../../parts/CommandLine.tsx';
import { ago } from '../../parts/format.ts';
import { idOf } from '../../session/roles.ts';
import { useAgent } from './requests.ts';

/** Says that the agent holds a request, if it does. */
export function HeldNote({ requisition }: { requisition: string }) {
  const { data } = useAgent();
  if (data === undefined || 'missing' in data) return null;
  const held = data.view.heldQuestions.find((each) => each.requisition === requisition);
  return held ? <HeldCard held={held} /> : null;
}

/** A request that waits until somebody confirms the references that it asks about. */
export function HeldCard({ held, isLinked = false }: { held: HeldQuestion; isLinked?: boolean }) {
  const references = held.references.join(', ');
  return (
    <section className="card why warn">
      <div className="in-card stack">
        <div className="row">
          <Chip tone="warn" icon="clock">
            Held for you
          </Chip>
          <span className="xs muted">
            from <bdi>{idOf(held.measurementConsumer)}</bdi>, {ago(held.since)}
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
        {isLinked && (
          <p>
            <A to={`/requests/${idOf(held.requisition)}`}>Open the request</A>
          </p>
        )}
      </div>
    </section>
  );
}
