import { fromBase64 } from '@measurement-exchange/contract';

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;

/** Returns the blocks of a PEM text in order, and ignores other text. Returns undefined if a block is not base64. */
export function pemBlocks(pem: string): { label: string; bytes: Uint8Array }[] | undefined {
  const blocks = [...pem.matchAll(BLOCK)].map(([, label, text]) => ({
    label: label!,
    bytes: fromBase64(text!.replace(/\s/g, '')),
  }));
  return blocks.every((block) => block.bytes !== undefined)
    ? (blocks as { label: string; bytes: Uint8Array }[])
    : undefined;
}
