import { Fragment, useState } from 'react';
import { Icon } from './Icon.tsx';

export function CommandLine({ command }: { command: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <span className="cmd">
      <code>
        {command.split(' ').map((word, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: words may be equal, and keep their order
          <Fragment key={i}>
            {i > 0 && ' '}
            <span>{word}</span>
          </Fragment>
        ))}
      </code>
      <button type="button" className="btn sm" onClick={() => void copy()}>
        <Icon name={copied ? 'check' : 'copy'} /> {copied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
