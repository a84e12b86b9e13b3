import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A folder that Linux keeps in memory. PostgreSQL creates hundreds of files for each test database. In memory, this
 * takes half as long as on a disk.
 */
const MEMORY_FOLDER = '/dev/shm'
/**
 * How much free space the folder in memory must have. A run uses less than half of this space. If less is free, as in
 * many containers, the run uses the disk.
 */
const FREE_BYTES_MIN = 4 * 1024 ** 3

/**
 * Creates a folder for everything that a test run writes. It is in memory if there is enough space, otherwise in the
 * system's temporary folder.
 */
export function makeScratchFolder(): string {
  const folder = mkdtempSync(join(hasPlentyOfRoom(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir(), 'bursar-test-'))
  // If we run as root, PostgreSQL runs as another user, who must be able to pass through this folder.
  chmodSync(folder, 0o711)
  return folder
}

function hasPlentyOfRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= FREE_BYTES_MIN
}
