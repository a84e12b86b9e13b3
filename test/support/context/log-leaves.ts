import { createHash } from 'node:crypto'
import type { Database } from '../../../server/src/db/database.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { appendLeaves } from '../../../server/src/domain/transparency-log/append-leaves.ts'
import { hashLeaf, rootOf } from '../../../server/src/domain/transparency-log/merkle-tree.ts'
import { growTiles, readTiles } from '../../../server/src/domain/transparency-log/tile.ts'
import { readRows } from '../database/read-rows.ts'

export interface StoredLeaf {
  readonly position: number
  readonly type: string
  readonly logId: string
  readonly subject: string
  readonly content: string
  /** The members of the content. */
  readonly members: Readonly<Record<string, string | number | null>>
}

/** Makes leaves of all changes that wait, as the job does. */
export async function logAll(ctx: Context): Promise<void> {
  while ((await appendLeaves(ctx, { limit: 1_000 })) > 0);
}

/** Hashes a text as a leaf with this salt (base64url) contains it, in its member `name` and `_hash`. */
export function hashText(salt: unknown, name: string, text: string): string {
  const bytes = Buffer.from(String(salt), 'base64url')
  return createHash('sha256').update(bytes).update(`${name}\0${text}`).digest('base64url')
}

/** Returns all leaves of the transparency log, in the order of the tree. */
export async function readLeaves(db: Database): Promise<StoredLeaf[]> {
  const rows = await readRows(db, 'select * from log_leaves order by position')
  return rows.map((row) => ({
    position: Number(row['position']),
    type: String(row['type']),
    logId: String(row['log_id']),
    subject: String(row['subject']),
    content: String(row['content']),
    members: JSON.parse(String(row['content'])) as StoredLeaf['members'],
  }))
}

/** Computes the root of a tree from the contents of its leaves, as a checkpoint contains it. */
export function rootFrom(contents: readonly string[]): string {
  const hashes = contents.map((content) => hashLeaf(Buffer.from(content)))
  return rootOf(readTiles(growTiles([], 0, hashes)), hashes.length).toString('base64')
}

/** Returns the lines of the newest checkpoint: the name of the log, its size and its root. */
export async function readCheckpoint(db: Database): Promise<readonly string[]> {
  const [row] = await readRows(db, 'select checkpoint from log_head')
  return String(row?.['checkpoint']).split('\n').slice(0, 3)
}
