import type { Context } from '../context.ts'
import { proveInclusion, rememberSubtrees } from '../transparency-log/merkle-tree.ts'
import { formatCheckpoint, NoteSigner } from '../transparency-log/signed-note.ts'
import { readTiles, tilesOfProofs } from '../transparency-log/tile.ts'
import {
  findLeaves,
  findLogTree,
  findTiles,
  type LeafKey,
  type StoredLeaf,
} from '../transparency-log/transparency-log-store.ts'

/** A leaf, and in which of the logs it is. */
export interface LoggedLeaf extends StoredLeaf {
  /** The place of its log in `OpenLogs.logs`. */
  readonly log: number
}

/** What evidence says about a log: its checkpoint and its verifier key. */
export type LogStatement = Readonly<Record<'checkpoint' | 'key', string>>

/** The logs as they were when they were opened. All proofs are for these checkpoints, although the logs grow. */
export interface OpenLogs {
  /** In the order in which the service used them. The last one is the log of this cell. */
  readonly logs: readonly LogStatement[]
  /** How many leaves the last one had. */
  readonly size: number
  readonly openedAt: Date
  /** Signs a text with the key of the last log. */
  sign(text: string): string
}

/**
 * Opens the logs that contain the leaves of a workspace. Returns null if there is no leaf yet. The checkpoint is signed
 * anew, because the stored one is by another key if the encryption key was lost since (D74a).
 */
export async function openLogs(ctx: Pick<Context, 'db' | 'clock' | 'transparencyLog'>): Promise<OpenLogs | null> {
  const openedAt = ctx.clock.now()
  const [tree, seed] = await Promise.all([ctx.db.read(findLogTree()), ctx.transparencyLog.key.read()])
  if (tree === null) return null
  const signer = new NoteSigner(tree.origin, seed)
  const checkpoint = signer.sign(formatCheckpoint(tree))
  return {
    logs: [{ checkpoint, key: signer.verifierKey }],
    size: tree.size,
    openedAt,
    sign: (text) => signer.sign(text),
  }
}

/** Finds leaves of a workspace. Those that the opened logs do not contain are left out. */
export async function findLoggedLeaves(
  ctx: Pick<Context, 'db'>,
  { logs, size }: OpenLogs,
  { workspaceId, keys }: { readonly workspaceId: string; readonly keys: readonly LeafKey[] },
): Promise<LeafIndex> {
  const found = keys.length === 0 ? [] : await ctx.db.readSlow(findLeaves(workspaceId, keys), workspaceId)
  const log = logs.length - 1
  return new LeafIndex(found.filter(({ position }) => position < size).map((leaf) => ({ ...leaf, log })))
}

/** Leaves by their keys. */
export class LeafIndex {
  readonly #leaves: ReadonlyMap<string, LoggedLeaf>

  constructor(leaves: readonly LoggedLeaf[]) {
    this.#leaves = new Map(leaves.map((leaf) => [keyOf(leaf), leaf]))
  }

  find(type: LeafKey['type'], subject: string): LoggedLeaf | null {
    return this.#leaves.get(keyOf({ type, subject })) ?? null
  }
}

function keyOf({ type, subject }: LeafKey): string {
  return `${type} ${subject}`
}

/** Proves that the opened logs contain these leaves. Returns the hashes of each proof, one after the other. */
export async function proveLeaves(
  ctx: Pick<Context, 'db'>,
  { size }: OpenLogs,
  { workspaceId, leaves }: { readonly workspaceId: string; readonly leaves: readonly LoggedLeaf[] },
): Promise<ReadonlyMap<LoggedLeaf, readonly Buffer[]>> {
  const positions = leaves.map(({ position }) => position)
  const tiles = await ctx.db.readSlow(findTiles(tilesOfProofs(positions, size)), workspaceId)
  const read = rememberSubtrees(readTiles(tiles))
  return new Map(leaves.map((leaf) => [leaf, proveInclusion(read, leaf.position, size)]))
}

/** Returns the order of leaves: that of their logs, and of their positions there. */
export function compareLeaves(one: LoggedLeaf, other: LoggedLeaf): number {
  return one.log - other.log || one.position - other.position
}

/** Returns whether a leaf was added before another one. */
export function isBefore(one: LoggedLeaf, other: LoggedLeaf): boolean {
  return compareLeaves(one, other) < 0
}
