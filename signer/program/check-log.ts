import { EvidenceError } from '../src/evidence/evidence-error.ts'
import { checkSince, type SinceResult } from '../src/evidence/consistency.ts'
import type { LogEntry } from '../src/evidence/file.ts'
import { originOf } from '../src/evidence/signed-note.ts'
import { ArgumentError } from './read-arguments.ts'

const TIMEOUT_MS = 15_000

/** What became of the log since an old checkpoint, and whether it still contains what the checkpoint covers. */
export interface LogCheck {
  readonly isConsistent: boolean
  readonly outcome: 'consistent' | 'restored' | 'inconsistent'
  /** A sentence for people. */
  readonly reason: string
}

/**
 * Compares an old checkpoint with the logs of evidence. Reads the log from its host, or from `url`, but believes only what
 * the key of the log has signed.
 */
export async function checkLog(
  logs: readonly LogEntry[],
  { since, url }: { since: string; url: string | null },
): Promise<LogCheck> {
  const origin = readOrigin(since)
  const log = logs.find(({ checkpoint }) => originOf(checkpoint) === origin) ?? logs.at(-1)
  if (log === undefined) throw new Error('evidence has at least one log')
  const base = url ?? `https://${originOf(log.checkpoint).split('/')[0] ?? ''}`
  try {
    const { checkpoint, key: logKey } = log
    const result = await checkSince({ since, checkpoint, logKey, read: (path, max) => readFile(base, path, max) })
    return { isConsistent: result.outcome === 'consistent', outcome: result.outcome, reason: describe(result) }
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error
    return { isConsistent: false, outcome: 'inconsistent', reason: `In ${error.part}: ${error.reason}.` }
  }
}

function describe(result: SinceResult): string {
  const { old, other } = result
  if (result.outcome === 'consistent') {
    return `The tree of the old checkpoint, with ${old.size} leaves, and that of the evidence, with ${other.size}, agree: nothing was changed or removed.`
  }
  return `The log ended, and its database was restored from a backup at ${result.at}. Of its leaves, only the first ${result.commonSize} are certainly in the log of the evidence.`
}

function readOrigin(checkpoint: string): string {
  try {
    return originOf(checkpoint)
  } catch {
    throw new ArgumentError('The file of --since contains no checkpoint of a log.')
  }
}

/** Reads a file of the log. Throws if it cannot be read, or has more bytes. */
async function readFile(base: string, path: string, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(new URL(path, base), { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) throw new EvidenceError('log', `${path} could not be read: the status is ${response.status}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new EvidenceError('log', `${path} has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
