import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isProcessAlive, readCommand } from '../postgres/process-facts.ts'

export interface TakenDataDir {
  release(): void
}

interface Holder {
  readonly pid: number
  /** Distinguishes the process from a later one with the same id. */
  readonly command: string
}

export const LOCK_FILE_NAME = 'sandbox.pid'
/**
 * A stale lock is removed and taken again. Meeting another stale lock means that others are starting at the same
 * moment.
 */
const ATTEMPTS_MAX = 3
/** Directories that this process holds. After a restart of a container, its own id in a lock file means nothing. */
const heldHere = new Set<string>()

/**
 * Creates the data directory and locks it for this process.
 *
 * @throws Error with one sentence if it cannot be written, or if another running sandbox holds it.
 */
export function takeDataDir(dataDir: string): TakenDataDir {
  const file = join(dataDir, LOCK_FILE_NAME)
  try {
    // Others may pass through it, because PostgreSQL runs as another user under root. Every file in it is private.
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

/** The process id of the sandbox that runs on a data directory, or null. */
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

/** Appears together with its content, so that no reader sees half of it. Returns false if another process was first. */
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
