import { type ReactNode, useEffect } from 'react';
import { A } from './A.tsx';

/**
 * The head of a page: a link to the page above it, the title, facts in one line, and actions. Also sets the window's
 * title.
 */
export function PageHead({
  title,
  above,
  meta = [],
  actions,
}: {
  title: string;
  /** The page that this page belongs to, such as the list that contains it. */
  above?: { to: string; text: string };
  meta?: ReactNode[];
  actions?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Measurement Exchange`;
  }, [title]);
  return (
    <div className="head">
      <div>
        {above && (
          <nav className="crumb" aria-label="Path">
            <A to={above.to}>{above.text}</A>
          </nav>
        )}
        <h1>{title}</h1>
        {meta.length > 0 && (
          <div className="meta">
            {meta.map((fact, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a page keep their order
              <span key={i}>{fact}</span>
            ))}
          </div>
        )}
      </div>
      {actions && <div className="acts">{actions}</div>}
    </div>
  );
}
