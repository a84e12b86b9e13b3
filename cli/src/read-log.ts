const TIMEOUT_MS = 10_000

/**
 * Returns a function that reads the files of a transparency log from this host, without a credential. It throws if the
 * host does not respond with 200, or if a file has more than `bytesMax` bytes.
 */
export function openLogReader(baseUrl: string): (path: string, bytesMax: number) => Promise<Uint8Array<ArrayBuffer>> {
  return async (path, bytesMax) => {
    const response = await fetch(baseUrl + path, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`${path}: the log responded with ${response.status}`)
    }
    const bytes = new Uint8Array(bytesMax)
    let length = 0
    for await (const chunk of response.body ?? []) {
      if (length + chunk.length > bytesMax) throw new Error(`${path}: it has more than ${bytesMax} bytes`)
      bytes.set(chunk, length)
      length += chunk.length
    }
    return bytes.slice(0, length)
  }
}
