import type { LeafEntry } from './file.ts'
import { readLeaf, type Leaf } from './leaf.ts'
import { hashLeaf, verifyInclusion } from './merkle.ts'
import { wrong } from './read.ts'
import type { Checkpoint } from './signed-note.ts'
import type { VerifiedLog } from './verify-log.ts'

/** A leaf that the log contains. */
export interface VerifiedLeaf<Kind extends Leaf = Leaf> {
  readonly leaf: Kind
  readonly texts: Readonly<Record<string, string | null>>
  /** Which of the logs contains it, from 0. */
  readonly log: number
  readonly position: number
  /** Its path in the file. */
  readonly part: string
}

/** Verifies that the tree of the checkpoint contains the leaf, and that the leaf contains the hashes of the texts. */
export async function verifyLeaf(
  { content, position, proof, texts }: LeafEntry,
  { log, checkpoint, part }: { log: number; checkpoint: Checkpoint; part: string },
): Promise<VerifiedLeaf> {
  const read = await readLeaf(content, { texts, part })
  if (position >= checkpoint.size) throw wrong(`${part}.position`, 'the tree of the checkpoint has fewer leaves')
  const leafHash = await hashLeaf(new TextEncoder().encode(content))
  if (!(await verifyInclusion(leafHash, position, checkpoint.size, proof, checkpoint.root))) {
    throw wrong(
      `${part}.proof`,
      'the checkpoint does not contain this leaf here: the leaf, its position or this proof was changed',
    )
  }
  return { ...read, log, position, part }
}

export function isBefore(first: VerifiedLeaf, second: VerifiedLeaf): boolean {
  return first.log < second.log || (first.log === second.log && first.position < second.position)
}

/**
 * Checks the positions of leaves, which are in the order of the logs and positions. In a log that the service used twice,
 * the later leaves must have higher positions. Otherwise a log that is listed twice could turn the order of leaves around.
 */
export function checkPositions(leaves: readonly VerifiedLeaf[], logs: readonly VerifiedLog[]): void {
  const last = new Map<string, number>()
  for (const { log, position, part } of leaves) {
    const name = logs[log]?.key.name ?? ''
    if (position <= (last.get(name) ?? -1)) {
      throw wrong(`${part}.position`, 'it is not after the position of the leaf of the same log before')
    }
    last.set(name, position)
  }
}
