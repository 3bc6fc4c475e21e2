/** Computes an upper bound for the size of a message without serializing it. */

/** The maximum total size of a field's tag and its length prefix, or of a numeric field's tag and value. */
const FIELD_BYTES = 16;

/** Returns an upper bound for the size of the serialized message, in bytes. */
export function sizeBound(value: unknown): number {
  if (typeof value === 'string') return FIELD_BYTES + Buffer.byteLength(value);
  if (value instanceof Uint8Array) return FIELD_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return FIELD_BYTES;
  let bytes = FIELD_BYTES;
  // The keys of messages are names of fields, which are not sent. Other objects are maps or JSON, whose keys are sent.
  const hasKeys = !('$typeName' in value) && !Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    bytes += sizeBound(inner) + (hasKeys ? FIELD_BYTES + Buffer.byteLength(key) : 0);
  }
  return bytes;
}
