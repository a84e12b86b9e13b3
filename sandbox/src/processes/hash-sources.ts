import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The name of a file in the folder of a build. The file contains the hash of the sources of this build. */
export const STAMP_NAME = 'built-of.txt'
const TESTS = /\.test\.tsx?$/

/**
 * Returns a hash of the files at `paths`, and of all files below the folders at `paths`, except tests. The paths are
 * relative to `root`, which ends with a separator.
 */
export function hashSources(root: string, paths: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of paths.flatMap((path) => listFiles(root, path))) {
    if (!TESTS.test(file)) hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

/** Returns the file itself, or all files below the folder, in a fixed order. */
export function listFiles(root: string, path: string): string[] {
  if (!existsSync(join(root, path))) return []
  if (/\.\w+$/.test(path)) return [path]
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .toSorted()
}

/** Returns the hash of the sources from which the build in a folder was made, or null if there is no build. */
export function readStamp(folder: string): string | null {
  const file = join(folder, STAMP_NAME)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
