import { type ReactNode, useEffect } from 'react';

/** The head of a page: title, facts in one line, and actions. Also sets the title of the window. */
export function PageHead({
  title,
  meta = [],
  actions,
}: {
  title: string;
  meta?: ReactNode[];
  actions?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Measurement Exchange`;
  }, [title]);
  return (
    <div className="head">
      <div>
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
