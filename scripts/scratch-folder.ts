import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Memory that Linux offers as a folder. PostgreSQL makes hundreds of files for each test database: here they cost half the time. */
const MEMORY_FOLDER = '/dev/shm'
/** A run uses less than half of it. Containers often have much less, and use the disk. */
const FREE_BYTES_MIN = 4 * 1024 ** 3

/** Makes a folder for everything that a run writes: in memory where there is plenty of it, else in the system's temporary folder. */
export function makeScratchFolder(): string {
  const folder = mkdtempSync(join(hasPlentyOfRoom(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir(), 'bursar-test-'))
  // Started by root, PostgreSQL runs as another user, who must be able to walk through.
  chmodSync(folder, 0o711)
  return folder
}

function hasPlentyOfRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= FREE_BYTES_MIN
}
