/** The body of a response is longer than its reader allows. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
}

/**
 * Reads the body of a response of `fetch` or `node:http`. If it has more than `bytesMax` bytes, ends the connection and
 * throws `BodyTooLong`. There is no time limit here: the caller's abort signal must cover the body too.
 */
export async function readBody(body: AsyncIterable<Uint8Array> | null, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > bytesMax) throw new BodyTooLong(`the body is longer than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
