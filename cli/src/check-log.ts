import { EvidenceError } from '../../signer/src/evidence/evidence-error.ts'
import { checkSince, type SinceResult } from '../../signer/src/evidence/consistency.ts'
import type { LogEntry } from '../../signer/src/evidence/file.ts'
import { originOf } from '../../signer/src/evidence/signed-note.ts'
import { ArgumentError } from '../../signer/program/read-arguments.ts'
import { openLogReader } from './read-log.ts'

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
  const base = url?.replace(/\/+$/, '') ?? `https://${originOf(log.checkpoint).split('/')[0] ?? ''}`
  try {
    const { checkpoint, key: logKey } = log
    const result = await checkSince({ since, checkpoint, logKey, read: openLogReader(base) })
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
