import type { ReactNode } from 'react';

export function Card({
  title,
  hint,
  actions,
  children,
}: {
  title: string;
  hint?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
        {actions}
        {hint && <p>{hint}</p>}
      </header>
      <div className="in-card stack">{children}</div>
    </section>
  );
}
