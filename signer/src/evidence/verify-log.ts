import { EvidenceError } from './evidence-error.ts'
import type { LogEntry } from './file.ts'
import { wrong } from './read.ts'
import { settle } from './settle.ts'
import { parseCheckpoint, readSoleNote, readVerifierKey, type Checkpoint, type VerifierKey } from './signed-note.ts'

export interface VerifiedLog {
  readonly key: VerifierKey
  readonly checkpoint: Checkpoint
}

/**
 * Verifies the checkpoint of a log. `trusted` are the verifier keys that the user has given; if there are none, any key is
 * accepted.
 */
async function verifyLog(
  { key: keyText, checkpoint: note }: LogEntry,
  { trusted, part }: { trusted: readonly string[]; part: string },
): Promise<VerifiedLog> {
  const key = await named(`${part}.key`, () => readVerifierKey(keyText))
  const checkpoint = await named(`${part}.checkpoint`, async () => parseCheckpoint(await readSoleNote(note, key)))
  if (checkpoint.origin !== key.name) throw wrong(`${part}.checkpoint`, 'its origin is not the name of the key')
  // A log that was restored has another name, but the same public key.
  if (trusted.length > 0 && !trusted.some((one) => publicKeyOf(one) === publicKeyOf(keyText))) {
    throw wrong(`${part}.key`, 'it is none of the keys of logs that you gave')
  }
  return { key, checkpoint }
}

/** Returns the last part of a verifier key: the public key. It may contain plus signs itself. */
export function publicKeyOf(verifierKey: string): string {
  return verifierKey.split('+').slice(2).join('+')
}

/**
 * Verifies the checkpoints of all logs. Two entries of the same log must have the same checkpoint: with two, the same log
 * could contain different leaves at one position.
 */
export async function verifyLogs(
  entries: readonly LogEntry[],
  { trusted, part }: { trusted: readonly string[]; part: string },
): Promise<readonly VerifiedLog[]> {
  const logs = await settle(entries.map((log, index) => verifyLog(log, { trusted, part: `${part}[${index}]` })))
  for (const [index, entry] of entries.entries()) {
    const same = entries.find((_, at) => logs[at]?.key.name === logs[index]?.key.name)
    if (same?.key !== entry.key) throw wrong(`${part}[${index}].key`, 'the same log has another key before')
    if (same.checkpoint !== entry.checkpoint) {
      throw wrong(`${part}[${index}].checkpoint`, 'the same log has another checkpoint before')
    }
  }
  return logs
}

/** Verifies that the key of the log has sealed exactly this hash. */
export async function verifySeal(
  seal: string,
  { key, format, hash, part }: { key: VerifierKey; format: string; hash: string; part: string },
): Promise<void> {
  const sealed = await named(part, () => readSoleNote(seal, key))
  if (sealed !== `${format}\n${hash}\n`) throw wrong(part, 'it is the seal of other content: something was changed')
}

/** Runs a function, and names the part in its error. */
async function named<Result>(part: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof EvidenceError ? wrong(part, error.reason) : error
  }
}
