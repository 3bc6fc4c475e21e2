import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link to a page of the console. `to` is a path, optionally with a query. */
export function A({
  to,
  className,
  children,
  ...rest
}: { to: string; className?: string; children: ReactNode; 'data-key'?: string } & Record<
  `aria-${string}`,
  string
>) {
  const [path, query = ''] = to.split('?');
  return (
    <Link
      to={path as '.'}
      search={Object.fromEntries(new URLSearchParams(query)) as never}
      {...(className !== undefined && { className })}
      {...rest}
    >
      {children}
    </Link>
  );
}
