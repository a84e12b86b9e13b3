import type { SinceResult } from './consistency.ts'

/** Returns what became of an old checkpoint, with the names of members that programs read. */
export function describeSince(result: SinceResult): Readonly<Record<string, string | number>> {
  const { outcome, old, other } = result
  const sizes = { outcome, old_size: old.size, size: other.size }
  if (outcome === 'consistent') return sizes
  return { ...sizes, restored_at: result.at, lost_size: result.lostSize, common_size: result.commonSize }
}

/** Returns what became of an old checkpoint, in sentences. */
export function formatSince(result: SinceResult): readonly string[] {
  const { outcome, old, other } = result
  if (outcome === 'consistent') {
    const [small, large] = old.size <= other.size ? [old, other] : [other, old]
    return [
      `log: consistent. The first ${small.size} of ${large.size} leaves are those of the ${small === old ? 'old' : 'other'} checkpoint.`,
    ]
  }
  const lost = Math.max(old.size, result.lostSize)
  return [
    `log: restored. The log of the old checkpoint ended on ${result.at}, when its database was restored from a backup.`,
    `The service says that the first ${result.commonSize} of its ${lost} leaves were kept. The others may be lost.`,
  ]
}
