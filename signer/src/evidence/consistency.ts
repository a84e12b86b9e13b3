import type { Bytes } from '../bytes.ts'
import { EvidenceError } from './evidence-error.ts'
import { equalHashes, HASH_BYTES, hashLeaf, verifyConsistency, verifyInclusion } from './merkle.ts'
import { nameKey, originOf, readCheckpoint, readVerifierKey, type Checkpoint } from './signed-note.ts'
import { formatTilePath, proveConsistency, proveInclusion, type ReadTile, type TilePlace } from './tiles.ts'

const LOG = 'log'
const METADATA_PATH = '/.well-known/bursar-log.json'
/** More than the document of a log that was restored 100 times has. */
const METADATA_BYTES_MAX = 256 * 1_024
const CHECKPOINT_BYTES_MAX = 4_096
/** Further leaves that say that a log ended are not looked at. */
const RESTORED_MAX = 100
/** More than the proofs in any tree need. */
const TILES_MAX = 128
/** The paths below which the files of a log can be. */
const PATH_PATTERN = /^\/log(?:\/[\w-]{1,64}){0,2}\/(?:checkpoint|tile)$/

/**
 * Reads a file of the log, such as `/log/checkpoint`, from the host of the log. Throws if the file has more bytes. What it
 * returns is not trusted.
 */
export type ReadFile = (path: string, bytesMax: number) => Promise<Bytes>

export interface SinceOptions {
  /** The old checkpoint, which somebody has kept. */
  readonly since: string
  /** Other checkpoints that the log must contain too: those of an evidence file. */
  readonly checkpoints: readonly string[]
  /** The verifier key of the log, from a source that is trusted. The log may have another name since a restore. */
  readonly logKey: string
  readonly read: ReadFile
}

/**
 * What became of the tree of the old checkpoint:
 *
 * - `consistent`: the newest tree begins with the tree of the old checkpoint, and with those of the other ones. So nothing
 *   was changed or removed.
 * - `restored`: the log of one of them ended, and the newest tree contains a leaf that says so. Leaves of its tree may be
 *   lost, but none of the first `commonSize`, according to this leaf.
 */
export type SinceResult =
  | { readonly outcome: 'consistent'; readonly old: Checkpoint; readonly other: Checkpoint }
  | {
      readonly outcome: 'restored'
      readonly old: Checkpoint
      readonly other: Checkpoint
      /** When the leaf was made, in ISO 8601. */
      readonly at: string
      /** How many leaves the log had that ended, according to the leaf. The old checkpoint may have more. */
      readonly lostSize: number
      readonly commonSize: number
    }

/**
 * Verifies that a log still contains what an old checkpoint covers. Throws an `EvidenceError` if it does not, or if this
 * cannot be verified. Of what is read, only what the key has signed counts, and what leads to a signed root.
 */
export async function checkSince({ since, checkpoints, logKey, read }: SinceOptions): Promise<SinceResult> {
  const { publicKey } = await readVerifierKey(logKey)
  const readSigned = async (note: string) => await readCheckpoint(note, await nameKey(publicKey, originOf(note)))
  const old = await readSigned(since)
  const document = parseDocument(await readText(read, METADATA_PATH, METADATA_BYTES_MAX))
  const newest = await readSigned(await readText(read, document.checkpointPath, CHECKPOINT_BYTES_MAX))
  const others: Checkpoint[] = []
  for (const note of checkpoints) others.push(await readSigned(note))
  const other = others.at(-1) ?? newest
  const readTile = openTiles(read, document.tilesPath)
  const isKept = async (one: Checkpoint) => one.size <= newest.size && (await isBeginning(one, newest, readTile))

  if (newest.origin === old.origin && newest.size < old.size) {
    throw new EvidenceError(LOG, `it has ${newest.size} leaves, fewer than the ${old.size} of the old checkpoint`)
  }
  // Two checkpoints of one tree say nothing about the log of today, so all are compared with it.
  const lost: Checkpoint[] = []
  for (const one of [old, ...others]) if (!(await isKept(one))) lost.push(one)
  const [first, ...further] = lost
  if (first === undefined) return { outcome: 'consistent', old, other }
  // Of two trees that the log does not contain, nothing can be proved but that they are the same.
  if (further.every(({ size, root }) => size === first.size && equalHashes(root, first.root))) {
    const end = await findEnd(first, { document, newest, readTile, readSigned })
    if (end !== null) return { outcome: 'restored', old, other, ...end }
  }
  const which = first === old ? 'old' : 'other'
  throw new EvidenceError(LOG, `it was rewritten: its tree does not begin with the tree of the ${which} checkpoint`)
}

/** Finds the leaf which says that the log of a checkpoint ended before all that it covers was in the newest tree. */
async function findEnd(
  { origin, size }: Checkpoint,
  {
    document,
    newest,
    readTile,
    readSigned,
  }: {
    document: LogDocument
    newest: Checkpoint
    readTile: ReadTile
    readSigned: (note: string) => Promise<Checkpoint>
  },
): Promise<{ at: string; lostSize: number; commonSize: number } | null> {
  for (const { position, leaf } of document.restored) {
    const restored = parseRestored(leaf)
    if (restored?.origin !== origin) continue
    if (!(await isInTree(leaf, position, newest, readTile))) {
      throw new EvidenceError(LOG, `its tree does not contain leaf ${position}, which says that the log was restored`)
    }
    const lost = await readSigned(restored.lost)
    // If the trees had all leaves of the checkpoint in common, the newest tree would begin with them.
    if (lost.origin !== origin || restored.size > position || restored.size >= size) return null
    return { at: restored.at, lostSize: lost.size, commonSize: restored.size }
  }
  return null
}

async function isBeginning(small: Checkpoint, large: Checkpoint, readTile: ReadTile): Promise<boolean> {
  if (small.size === large.size) return equalHashes(small.root, large.root)
  const proof = await proveConsistency(readTile, small.size, large.size)
  return await verifyConsistency({ oldSize: small.size, oldRoot: small.root }, large, proof)
}

async function isInTree(leaf: string, position: number, tree: Checkpoint, readTile: ReadTile): Promise<boolean> {
  if (position >= tree.size) return false
  const hash = await hashLeaf(new TextEncoder().encode(leaf))
  const proof = await proveInclusion(readTile, position, tree.size)
  return await verifyInclusion(hash, position, tree.size, proof, tree.root)
}

/** Reads each tile once. */
function openTiles(read: ReadFile, path: string): ReadTile {
  const tiles = new Map<string, Promise<Bytes>>()
  return (place) => {
    const name = formatTilePath(place)
    const known = tiles.get(name) ?? readTile(read, `${path}/${name}`, place)
    if (!tiles.has(name) && tiles.size >= TILES_MAX) throw new EvidenceError(LOG, 'the proof needs too many tiles')
    tiles.set(name, known)
    return known
  }
}

async function readTile(read: ReadFile, path: string, { width }: TilePlace): Promise<Bytes> {
  const bytes = await read(path, width * HASH_BYTES)
  if (bytes.length !== width * HASH_BYTES) throw new EvidenceError(LOG, `${path} does not have ${width} hashes`)
  return bytes
}

async function readText(read: ReadFile, path: string, bytesMax: number): Promise<string> {
  const bytes = await read(path, bytesMax)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new EvidenceError(LOG, `${path} is not UTF-8`)
  }
}

interface LogDocument {
  readonly checkpointPath: string
  readonly tilesPath: string
  readonly restored: readonly { readonly position: number; readonly leaf: string }[]
}

/** Reads the document of the log. Its addresses count only as paths, so they cannot lead to another host. */
function parseDocument(text: string): LogDocument {
  const { checkpoint_url: checkpoint, tiles_url: tiles, restored } = parseObject(text) ?? {}
  const [checkpointPath, tilesPath] = [pathOf(checkpoint), pathOf(tiles)]
  if (checkpointPath === null || tilesPath === null || !Array.isArray(restored) || restored.length > RESTORED_MAX) {
    throw new EvidenceError(LOG, `${METADATA_PATH} does not have the members of a log`)
  }
  const leaves = restored.map((entry: unknown) => {
    const { position, leaf } = (entry ?? {}) as { readonly position?: unknown; readonly leaf?: unknown }
    if (!isCount(position) || typeof leaf !== 'string') {
      throw new EvidenceError(LOG, `${METADATA_PATH} has a restored leaf without position or content`)
    }
    return { position, leaf }
  })
  return { checkpointPath, tilesPath, restored: leaves }
}

function pathOf(url: unknown): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null
  const { pathname } = new URL(url)
  return PATH_PATTERN.test(pathname) ? pathname : null
}

interface Restored {
  readonly origin: string
  readonly lost: string
  readonly size: number
  readonly at: string
}

/** Reads a leaf that says that a log ended. Returns null for any other leaf. */
function parseRestored(leaf: string): Restored | null {
  const { v, type, subject: origin, lost, size, at } = parseObject(leaf) ?? {}
  if (v !== 1 || type !== 'log.restored' || typeof origin !== 'string') return null
  if (typeof lost !== 'string' || !isCount(size) || typeof at !== 'string') return null
  return { origin, lost, size, at }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
