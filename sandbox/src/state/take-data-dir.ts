import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isProcessAlive, readCommand } from '../lib/process-facts.ts'

export interface TakenDataDir {
  release(): void
}

interface Holder {
  readonly pid: number
  /** The command line. It distinguishes the process from a later process with the same id. */
  readonly command: string
}

export const LOCK_FILE_NAME = 'sandbox.pid'
/**
 * How many times to try to create the lock. A stale lock is removed before the next try. If even the last try finds a
 * stale lock, other processes are starting at the same moment, and this process gives up.
 */
const ATTEMPTS_MAX = 3
/**
 * The directories that this process has locked. If a lock file contains our own process id, but the directory is not
 * listed here, the file is from before a restart of the container.
 */
const heldHere = new Set<string>()

/**
 * Creates the data directory and locks it for this process.
 *
 * @throws Error with one sentence if the directory cannot be written, or if another running sandbox has locked it.
 */
export function takeDataDir(dataDir: string): TakenDataDir {
  const file = join(dataDir, LOCK_FILE_NAME)
  try {
    // The mode lets other users enter the directory: if we run as root, PostgreSQL runs as another user. Every file in
    // the directory is private.
    mkdirSync(dataDir, { recursive: true, mode: 0o711 })
    for (let attempt = 1; !createLock(file); attempt += 1) {
      const holder = findHolder(dataDir)
      if (holder !== null || attempt === ATTEMPTS_MAX) throw new DataDirInUse(dataDir, holder)
      rmSync(file, { force: true })
    }
  } catch (error) {
    if (error instanceof DataDirInUse) throw error
    const detail = error instanceof Error ? error.message : String(error)
    throw new Error(
      `The data directory ${dataDir} cannot be written (${detail}): set BURSAR_DATA_DIR to another one.`,
      {
        cause: error,
      },
    )
  }
  heldHere.add(dataDir)
  return {
    release: () => {
      heldHere.delete(dataDir)
      rmSync(file, { force: true })
    },
  }
}

/** Returns the process id of the sandbox that runs on a data directory, or null. */
export function findHolder(dataDir: string): number | null {
  const holder = readHolder(join(dataDir, LOCK_FILE_NAME))
  if (holder === null) return null
  if (holder.pid === process.pid) return heldHere.has(dataDir) ? holder.pid : null
  return isProcessAlive(holder.pid) && readCommand(holder.pid) === holder.command ? holder.pid : null
}

class DataDirInUse extends Error {
  constructor(dataDir: string, pid: number | null) {
    super(
      `Another sandbox (process ${pid ?? 'unknown'}) runs on ${dataDir}: stop it first, or set BURSAR_DATA_DIR to another one.`,
    )
  }
}

/**
 * Creates the lock file. It appears together with its content, so no process ever reads half of it. Returns false if
 * another process was first.
 */
function createLock(file: string): boolean {
  const fresh = `${file}.${process.pid}`
  const holder: Holder = { pid: process.pid, command: readCommand(process.pid) }
  writeFileSync(fresh, JSON.stringify(holder), { mode: 0o600 })
  try {
    linkSync(fresh, file)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(fresh, { force: true })
  }
}

function readHolder(file: string): Holder | null {
  if (!existsSync(file)) return null
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>
    return typeof holder.pid === 'number' && typeof holder.command === 'string'
      ? { pid: holder.pid, command: holder.command }
      : null
  } catch {
    return null
  }
}
