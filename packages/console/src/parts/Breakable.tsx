import { Fragment } from 'react';

/**
 * An identifier or a fingerprint. The text can break only after a slash or a colon, and between a lowercase and an
 * uppercase letter, as in `liquidLegions`.
 */
export function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[/:])|(?<=[a-z])(?=[A-Z])/).map((part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts may be equal, and keep their order
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
