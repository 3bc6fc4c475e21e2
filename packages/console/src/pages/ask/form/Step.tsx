import type { ReactNode } from 'react';
import { Icon } from '../../../parts/Icon.tsx';

export function Step({
  id,
  number,
  title,
  hint,
  done,
  children,
}: {
  id: string;
  number: number;
  title: string;
  hint: string;
  done: boolean;
  children: ReactNode;
}) {
  return (
    <section className="card" id={`ask-${id}`} tabIndex={-1} aria-labelledby={`ask-${id}-title`}>
      <header>
        <span className={done ? 'num-step done' : 'num-step'} aria-hidden="true">
          {done ? <Icon name="check" /> : number}
        </span>
        <h2 id={`ask-${id}-title`}>{title}</h2>
        <p>{hint}</p>
      </header>
      <div className="in-card stack">{children}</div>
    </section>
  );
}

export function GoTo({ id, children }: { id: string; children: ReactNode }) {
  const go = () => {
    const section = document.getElementById(`ask-${id}`);
    section?.scrollIntoView({ block: 'start' });
    section?.focus({ preventScroll: true });
  };
  return (
    <button type="button" className="bare link" onClick={go}>
      {children}
    </button>
  );
}
