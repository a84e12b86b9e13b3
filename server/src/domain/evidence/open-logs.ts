import type { Context } from '../context.ts'
import { findCarriedLeaves, listCarriedLogs } from '../transparency-log/carried-leaves-store.ts'
import { proveInclusion, rememberSubtrees } from '../transparency-log/merkle-tree.ts'
import { formatCheckpoint, NoteSigner, parseCheckpoint } from '../transparency-log/signed-note.ts'
import { HASH_BYTES, readTiles, tilesOfProofs } from '../transparency-log/tile.ts'
import {
  findLeaves,
  findLogHead,
  findTiles,
  type LeafKey,
  type StoredLeaf,
} from '../transparency-log/transparency-log-store.ts'

/** A leaf, and in which of the logs it is. */
export interface LoggedLeaf extends StoredLeaf {
  /** The place of its log in `OpenLogs.logs`. */
  readonly log: number
  /** The proof that another cell's log contains the leaf, if a move brought it. Null for a leaf of this cell's log. */
  readonly proof: readonly Buffer[] | null
}

/** What evidence says about a log: its checkpoint and its verifier key. */
export type LogStatement = Readonly<Record<'checkpoint' | 'key', string>>

/** The logs as they were when they were opened. All proofs are for these checkpoints, although the logs grow. */
export interface OpenLogs {
  /** In the order in which the service used them. The last one is the log of this cell. */
  readonly logs: readonly LogStatement[]
  /** How many leaves the last one had. */
  readonly size: number
  /** The logs of the leaves that moves brought, by the ids of the moves. */
  readonly carried: ReadonlyMap<string, CarriedPlace>
  readonly openedAt: Date
  /** Signs a text with the key of the last log. */
  sign(text: string): string
}

interface CarriedPlace {
  /** The place in `OpenLogs.logs`. */
  readonly log: number
  /** Whether it is the log of this cell, to which the workspace came back. */
  readonly isOwn: boolean
}

/**
 * Opens the logs that contain the leaves of a workspace. Returns null if this cell's log has no leaf yet. The checkpoint
 * is signed again, because the stored one is by another key if the encryption key was lost since (D74a).
 */
export async function openLogs(
  ctx: Pick<Context, 'db' | 'clock' | 'transparencyLog'>,
  workspaceId: string,
): Promise<OpenLogs | null> {
  const openedAt = ctx.clock.now()
  const [[head, earlier], seed] = await Promise.all([
    ctx.db.read([findLogHead(), listCarriedLogs(workspaceId)]),
    ctx.transparencyLog.key.read(),
  ])
  const tree = head.checkpoint === null ? null : parseCheckpoint(head.checkpoint)
  if (tree === null) return null
  const signer = new NoteSigner(tree.origin, seed)
  const own = { checkpoint: signer.sign(formatCheckpoint(tree)), key: signer.verifierKey }
  const isOwn = ({ checkpoint }: { readonly checkpoint: string }) => checkpoint.startsWith(`${tree.origin}\n`)
  return {
    logs: [...earlier.map((one) => (isOwn(one) ? own : { checkpoint: one.checkpoint, key: one.verifierKey })), own],
    size: tree.size,
    carried: new Map(earlier.map((one, log) => [one.moveId, { log, isOwn: isOwn(one) }])),
    openedAt,
    sign: (text) => signer.sign(text),
  }
}

/** Finds leaves of a workspace. Those that the opened logs do not contain are left out. */
export async function findLoggedLeaves(
  ctx: Pick<Context, 'db'>,
  { logs, size, carried }: OpenLogs,
  { workspaceId, keys }: { readonly workspaceId: string; readonly keys: readonly LeafKey[] },
): Promise<LeafIndex> {
  if (keys.length === 0) return new LeafIndex([])
  const [own, brought] = await ctx.db.readSlow(
    [findLeaves(workspaceId, keys), findCarriedLeaves(workspaceId, carried.size === 0 ? [] : keys)],
    workspaceId,
  )
  return new LeafIndex([
    ...own.filter(({ position }) => position < size).map((leaf) => ({ ...leaf, log: logs.length - 1, proof: null })),
    // A leaf of this cell's log that a move brought back is listed where the workspace was at that time.
    ...brought.flatMap(({ moveId, proof, ...leaf }): LoggedLeaf[] => {
      const place = carried.get(moveId)
      return place === undefined ? [] : [{ ...leaf, log: place.log, proof: place.isOwn ? null : splitHashes(proof) }]
    }),
  ])
}

function splitHashes(hashes: Buffer): Buffer[] {
  return Array.from({ length: hashes.length / HASH_BYTES }, (_, index) =>
    hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  )
}

/** Leaves by their keys. Of two leaves with the same key, the later one counts. */
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
  const positions = leaves.filter(({ proof }) => proof === null).map(({ position }) => position)
  const places = positions.length === 0 ? [] : tilesOfProofs(positions, size)
  const read = rememberSubtrees(readTiles(await ctx.db.readSlow(findTiles(places), workspaceId)))
  return new Map(leaves.map((leaf) => [leaf, leaf.proof ?? proveInclusion(read, leaf.position, size)]))
}

/** Returns the order of leaves: that of their logs, and of their positions there. */
export function compareLeaves(one: LoggedLeaf, other: LoggedLeaf): number {
  return one.log - other.log || one.position - other.position
}

/** Returns whether a leaf was added before another one. */
export function isBefore(one: LoggedLeaf, other: LoggedLeaf): boolean {
  return compareLeaves(one, other) < 0
}
