import { useState } from 'react';
import { Icon } from './Icon.tsx';

/** A command that the reader can copy. */
export function CommandLine({ command }: { command: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <span className="cmd">
      <code>{command}</code>
      <button type="button" className="btn sm" onClick={() => void copy()}>
        <Icon name={copied ? 'check' : 'copy'} /> {copied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
