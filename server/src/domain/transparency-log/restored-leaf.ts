import { canonicalJson } from '../../lib/canonical-json.ts'
import { LEAF_VERSION } from './leaf.ts'

/** How the leaves that say that a log ended are stored. The subject of each is the origin of the log that ended. */
export const RESTORED = { logId: 'log', type: 'log.restored' } as const

/** The last part of the origin of a log that began after a restore. */
const SUFFIX_PATTERN = /\/(restored-\d{17})$/

/**
 * Returns the leaf that says that a log ended because the database was restored, in canonical JSON. `lost` is the last
 * checkpoint that is known of it, and `size` is how many leaves it surely has in common with this log.
 */
export function formatRestoredLeaf(
  { at, origin, lost, size }: { at: Date; origin: string; lost: string; size: number },
  salt: Buffer,
): string {
  return canonicalJson({
    ...{ v: LEAF_VERSION, type: RESTORED.type, at: at.toISOString(), workspace: null, mode: null, subject: origin },
    ...{ lost, size, salt: salt.toString('base64url') },
  })
}

/**
 * Returns the origin of a log that begins after a restore. The time makes it another one each time, even if the database
 * does not know about earlier restores any more.
 */
export function originAfterRestore(base: string, at: Date): string {
  return `${base}/restored-${at.toISOString().replaceAll(/\D/g, '')}`
}

/** Returns the last part of the origin of a log that began after a restore. Null for any other log. */
export function suffixOfOrigin(origin: string): string | null {
  return SUFFIX_PATTERN.exec(origin)?.[1] ?? null
}
