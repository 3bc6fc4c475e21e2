import { A } from '../parts/A.tsx';

export function Brand({ link = true }: { link?: boolean }) {
  const content = (
    <>
      <svg viewBox="0 0 26 26" aria-hidden="true" className="plot">
        <rect className="fl" x="0" y="0" width="26" height="26" rx="7" />
        <path d="M5 8.5v9M21 8.5v9M5 13h16" stroke="#fff" strokeWidth="1.8" strokeLinecap="round" />
        <circle cx="14.5" cy="13" r="3.6" fill="#fff" />
      </svg>
      Measurement Exchange
    </>
  );
  return link ? (
    <A className="brand" to="/">
      {content}
    </A>
  ) : (
    <span className="brand">{content}</span>
  );
}
