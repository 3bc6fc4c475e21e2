/** Returns a random request ID. Does not use `crypto.randomUUID`, because browsers disable it on insecure origins. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
