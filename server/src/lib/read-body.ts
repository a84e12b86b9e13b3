/** The body of a response is longer than its reader allows. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
}

/**
 * Reads the body of a response, of `fetch` or of `node:http`, up to `bytesMax` bytes. A longer body throws
 * `BodyTooLong` and ends the connection. The time is not limited here: the caller's signal must cover the body too.
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
