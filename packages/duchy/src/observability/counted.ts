/** Yields the bytes and counts them. */
export async function* counted(
  data: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of data) {
    count(chunk.length);
    yield chunk;
  }
}
