import { A } from './A.tsx';
import './segment.css';

/** Links to the views of a page. Each view has its own address. */
export function Segment({
  label,
  options,
}: {
  label: string;
  options: readonly { to: string; text: string; current: boolean }[];
}) {
  return (
    <nav className="seg links" aria-label={label}>
      {options.map(({ to, text, current }) => (
        <A key={text} to={to} {...(current && { 'aria-current': 'true' })}>
          {text}
        </A>
      ))}
    </nav>
  );
}
