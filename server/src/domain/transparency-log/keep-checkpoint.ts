import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Context } from '../context.ts'
import { compareCheckpoint, type Read, type Standing } from './compare-checkpoint.ts'
import { NoteSigner, parseCheckpoint, type Checkpoint } from './signed-note.ts'
import { findLogHead, type LogHead } from './transparency-log-store.ts'

/** A checkpoint has about 200 bytes. */
const FILE_BYTES_MAX = 4_096

/**
 * The newest checkpoint of the log that this process knows, in a file apart from the database (D80). If the database is
 * restored as it was earlier, the file still says how many leaves there were. Several processes may write the same file:
 * one of them may then replace a checkpoint with one that is a little older.
 */
export class KeptCheckpoint {
  readonly path: string
  #newest: string | null = null

  constructor(path: string) {
    this.path = path
  }

  /** The checkpoint that was loaded or stored last. Null if there was none. */
  get newest(): string | null {
    return this.#newest
  }

  /** Reads the file. Returns null if it does not exist. */
  async load(): Promise<string | null> {
    this.#newest = await readIfExists(this.path)
    return this.#newest
  }

  /** Replaces the file. A crash leaves the old content or the new one, and never a part of it. */
  async store(checkpoint: string): Promise<void> {
    const fresh = `${this.path}.${randomUUID()}`
    try {
      await writeDurably(fresh, checkpoint)
      await rename(fresh, this.path)
    } catch (error) {
      await rm(fresh, { force: true })
      throw error
    }
    this.#newest = checkpoint
  }
}

/** Stores the newest checkpoint of the log in the file, if one is set. Throws if the log does not continue the file. */
export async function keepCheckpoint(ctx: Pick<Context, 'db' | 'transparencyLog'>): Promise<void> {
  const { kept } = ctx.transparencyLog
  if (kept === null) return
  const head = await ctx.db.read(findLogHead())
  if (head.checkpoint === null && kept.newest === null) return
  await requireContinued(ctx, { head, read: (query) => ctx.db.read(query) })
  if (head.checkpoint !== null && head.checkpoint !== kept.newest) await kept.store(head.checkpoint)
}

/**
 * Compares the file with the log when the process starts. Throws an `OperatorError` if the database was restored as it was
 * earlier, or the log was rewritten: then leaves must not be added to it, because the service would have two logs of the
 * same name. Writes nothing, because payments must not wait until a full disk has room again.
 */
export async function requireKeptCheckpoint(ctx: Pick<Context, 'db' | 'transparencyLog'>): Promise<void> {
  if ((await ctx.transparencyLog.kept?.load()) == null) return
  const head = await ctx.db.read(findLogHead())
  await requireContinued(ctx, { head, read: (query) => ctx.db.read(query) })
}

/** Throws an `OperatorError` if the log does not continue the newest checkpoint that this process knows. */
export async function requireContinued(
  ctx: Pick<Context, 'transparencyLog'>,
  log: { readonly head: LogHead; readonly read: Read },
): Promise<void> {
  const { standing, checkpoint } = await compareKept(ctx, log)
  if (checkpoint === null || standing === 'continued' || standing === 'ended') return
  const { origin, size } = checkpoint
  throw new OperatorError(
    standing === 'lost'
      ? `LOG_CHECKPOINT_FILE says that the transparency log ${origin} had ${size} leaves, and the database has ` +
          `${log.head.size} leaves of ${log.head.origin ?? 'no log'}. It was restored as it was earlier: ` +
          'run "npm run after-restore -- --yes"'
      : `the transparency log was rewritten: LOG_CHECKPOINT_FILE says that the first ${size} leaves of ${origin} were ` +
          'others than the database has (see "The transparency log" in "Backups")',
  )
}

/**
 * How the log in the database stands to the newest checkpoint that this process knows; `unknown` if it knows none. Throws
 * an `OperatorError` if the file contains something else.
 */
export async function compareKept(
  { transparencyLog: { kept, key } }: Pick<Context, 'transparencyLog'>,
  { head, read }: { readonly head: LogHead; readonly read: Read },
): Promise<{ standing: Standing | 'unknown'; checkpoint: Checkpoint | null }> {
  const note = kept?.newest ?? null
  if (note === null) return { standing: 'unknown', checkpoint: null }
  const checkpoint = parseCheckpoint(note)
  if (checkpoint === null) throw new OperatorError('LOG_CHECKPOINT_FILE does not contain a checkpoint')
  if (note === head.checkpoint) return { standing: 'continued', checkpoint }
  const standing = await compareCheckpoint(checkpoint, { head, read })
  // A checkpoint that agrees with the database needs no signature, so it is accepted after the key was lost (D74a).
  const isAgreed = standing === 'continued' || standing === 'ended'
  if (isAgreed || new NoteSigner(checkpoint.origin, await key.read()).hasSigned(note)) return { standing, checkpoint }
  throw new OperatorError(
    `LOG_CHECKPOINT_FILE contains a checkpoint of ${checkpoint.origin} that neither agrees with the database nor is ` +
      'signed by its key. Move the file away if it is of another installation, or if the key was lost',
  )
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function readIfExists(path: string): Promise<string | null> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (file === null) return null
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_BYTES_MAX), 0, FILE_BYTES_MAX, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
