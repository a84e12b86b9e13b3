import type { Readable } from 'node:stream'

/**
 * Reads lines of UTF-8 text. A line that is longer than `bytesMax` is read to its end and returned as null, so that one
 * such line does not fill the memory. Empty lines are skipped.
 */
export async function* readLines(input: Readable, bytesMax: number): AsyncGenerator<string | null> {
  let parts: Buffer[] = []
  let bytes = 0
  const take = (): string | null => {
    const line = bytes > bytesMax ? null : Buffer.concat(parts).toString('utf8').trim()
    parts = []
    bytes = 0
    return line
  }
  for await (const chunk of input as AsyncIterable<Buffer | string>) {
    const buffer = Buffer.from(chunk)
    let start = 0
    for (let end = buffer.indexOf(10); end >= 0; end = buffer.indexOf(10, start)) {
      add(buffer.subarray(start, end))
      start = end + 1
      const line = take()
      if (line !== '') yield line
    }
    add(buffer.subarray(start))
  }
  const last = take()
  if (last !== '') yield last

  function add(part: Buffer): void {
    bytes += part.length
    if (bytes <= bytesMax) parts.push(part)
  }
}
