import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashSources, readStamp, STAMP_NAME } from '../sandbox/src/processes/hash-sources.ts'

export interface StampedBuild {
  /** The root of the project, with a separator at its end. */
  readonly root: string
  /** The folder of the result, relative to the root. */
  readonly output: string
  /** The inputs of the build: files and folders, relative to the root. */
  readonly sources: readonly string[]
  /** Writes the result to a folder that does not exist yet. Returns an error message, or null. */
  readonly build: (folder: string) => string | null
}

/** Builds, unless the existing result was built from the current sources. Returns an error message, or null. */
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
