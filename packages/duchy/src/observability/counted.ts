/** Passes the data through, and calls `count` with the size of each chunk. */
export async function* counted(
  data: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of data) {
    count(chunk.length);
    yield chunk;
  }
}
