import { spawnSync } from 'node:child_process'
import { chownSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * How to run a program that refuses to run as root.
 *
 * - `self`: we are not root.
 * - `nobody`: as the user that every system has and that owns nothing.
 * - `unshare`: nobody cannot enter a folder on the path (a checkout under /root), so the program keeps root's file
 *   access but sees itself as nobody inside a user namespace.
 */
export type RunAs = 'self' | 'nobody' | 'unshare'

export type Invocation = {
  readonly file: string
  readonly args: string[]
  readonly uid?: number
  readonly gid?: number
}

/** The uid and gid of `nobody` on Linux and in user namespaces. PostgreSQL requires a uid that has a name. */
const NOBODY_ID = 65534

const UNSHARE_ARGS = ['--user', `--map-user=${NOBODY_ID}`, `--map-group=${NOBODY_ID}`, '--']

/**
 * Chooses how to run a program that uses `paths`. Its user must be able to enter each of them.
 *
 * @throws Error if we are root, nobody cannot enter one of them, and user namespaces are not available (as in some
 * containers).
 */
export const chooseRunAs = (paths: readonly string[]): RunAs => {
  if (process.getuid?.() !== 0) return 'self'
  const closed = paths.map((path) => findClosedFolder(path)).find((path) => path !== undefined)
  if (closed === undefined) return 'nobody'
  if (spawnSync('unshare', [...UNSHARE_ARGS, 'true'], { stdio: 'ignore' }).status === 0) return 'unshare'
  throw new Error(
    `PostgreSQL refuses to run as root, and other users can't enter ${closed}: run as an ordinary user, or chmod o+x ${closed}`,
  )
}

/** The command line and the identity for one program. */
export const invocation = (runAs: RunAs, file: string, args: readonly string[]): Invocation => {
  if (runAs === 'self') return { file, args: [...args] }
  if (runAs === 'nobody') return { file, args: [...args], uid: NOBODY_ID, gid: NOBODY_ID }
  return { file: 'unshare', args: [...UNSHARE_ARGS, file, ...args] }
}

/**
 * Gives a file, or a folder and everything in it, to the user that the program runs as. Does nothing if it already owns
 * them.
 */
export const giveTo = (runAs: RunAs, path: string): void => {
  if (runAs === 'self') return
  const id = runAs === 'nobody' ? NOBODY_ID : 0
  if (lstatSync(path).uid === id) return
  chownTree(path, id)
}

// The top folder goes last: its owner shows whether an earlier, interrupted pass was complete.
const chownTree = (path: string, id: number): void => {
  const entry = lstatSync(path)
  if (entry.isSymbolicLink()) return
  if (entry.isDirectory()) for (const name of readdirSync(path)) chownTree(join(path, name), id)
  chownSync(path, id, id)
}

const findClosedFolder = (path: string): string | undefined => {
  const real = realpathSync(path)
  if ((statSync(real).mode & 0o001) === 0) return real
  const parent = dirname(real)
  return parent === real ? undefined : findClosedFolder(parent)
}
