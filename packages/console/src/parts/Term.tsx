import { type ReactNode, useId } from 'react';

/** A word whose explanation opens on hover, focus and tap. */
export function Term({ word, children }: { word: string; children: ReactNode }) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the explanation opens on focus
    <span className="term" tabIndex={0} aria-describedby={id}>
      {word}
      <span className="tip" role="tooltip" id={id}>
        {children}
      </span>
    </span>
  );
}
