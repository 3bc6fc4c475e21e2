import { useState } from 'react';
import { Icon } from './Icon.tsx';

export function CopyLink() {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" className="btn" onClick={() => void copy()}>
      <Icon name={copied ? 'check' : 'link'} /> {copied ? 'Copied' : 'Copy link'}
    </button>
  );
}
