import { checkSince, type ReadFile, type SinceResult } from '../src/evidence/consistency.ts'
import { originOf } from '../src/evidence/signed-note.ts'
import { ArgumentError } from './read-arguments.ts'

const TIMEOUT_MS = 10_000

/**
 * Compares a checkpoint that somebody has kept, and those of evidence, with the log of today. Reads the log at `logUrl`, or
 * on the host that the kept checkpoint names. Throws an `EvidenceError` if the log does not contain what the checkpoint
 * covers, and an `ArgumentError` if the address is not valid.
 */
export async function checkLog({
  logUrl,
  ...checked
}: {
  readonly since: string
  readonly checkpoints: readonly string[]
  readonly logKey: string
  readonly logUrl: string | null
}): Promise<SinceResult> {
  const address = logUrl ?? `https://${originOf(checked.since).split('/', 1)[0]}`
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ArgumentError(`${address} is not the address of a service, such as https://api.example.com.`)
  }
  return await checkSince({ ...checked, read: openLogReader(url.origin) })
}

/** Reads the files of a log from this host, without a credential. Errors say which file could not be read, and why. */
export function openLogReader(baseUrl: string): ReadFile {
  return async (path, bytesMax) => {
    const response = await fetch(baseUrl + path, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        throw new Error(`${baseUrl}${path}: ${reason}. If the log is elsewhere, name its address with --log-url`)
      },
    )
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`${path}: the log responded with ${response.status}`)
    }
    const bytes = new Uint8Array(bytesMax)
    let length = 0
    for await (const chunk of response.body ?? []) {
      if (length + chunk.length > bytesMax) throw new Error(`${path}: the response has more than ${bytesMax} bytes`)
      bytes.set(chunk, length)
      length += chunk.length
    }
    return bytes.slice(0, length)
  }
}
