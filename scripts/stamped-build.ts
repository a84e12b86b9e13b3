import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const STAMP_NAME = 'built-of.txt'

export interface StampedBuild {
  /** The root of the project, with a separator at its end. */
  readonly root: string
  /** The folder of the result, from the root. */
  readonly output: string
  /** The inputs of the build: files and folders, from the root. */
  readonly sources: readonly string[]
  /** Writes the result to a folder that does not exist yet. Returns an error message, or null. */
  readonly build: (folder: string) => string | null
}

/** Builds unless the present result was built from the same sources. Returns an error message, or null. */
export function buildOnce({ root, output, sources, build }: StampedBuild): string | null {
  const built = join(root, output)
  const stamp = hashSources(root, sources)
  if (readStamp(built) === stamp) return null
  // Built in a separate folder, so that a server that starts meanwhile never sees a half-finished build.
  const folder = `${built}.${process.pid}`
  const fault = build(folder)
  if (fault !== null) {
    rmSync(folder, { recursive: true, force: true })
    return fault
  }
  writeFileSync(join(folder, STAMP_NAME), stamp)
  replace(built, { folder, stamp })
  return null
}

function replace(built: string, { folder, stamp }: { folder: string; stamp: string }): void {
  const old = `${folder}.old`
  try {
    if (existsSync(built)) renameSync(built, old)
    renameSync(folder, built)
  } catch (error) {
    // Another process was faster. Its build is equally good if it used the same sources.
    if (readStamp(built) !== stamp) throw error
  } finally {
    for (const left of [folder, old]) rmSync(left, { recursive: true, force: true })
  }
}

function readStamp(folder: string): string | null {
  const file = join(folder, STAMP_NAME)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

function hashSources(root: string, sources: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of sources.flatMap((path) => listFiles(root, path))) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
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
