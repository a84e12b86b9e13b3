import { spawnSync } from 'node:child_process'
import { chownSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Which user a program runs as. PostgreSQL refuses to run as root.
 *
 * - `self`: our own user, because we are not root.
 * - `nobody`: the user `nobody`, which every system has and which owns nothing.
 * - `unshare`: root in a user namespace, in which the program sees itself as `nobody`. Used if `nobody` cannot enter a
 *   folder on the path, such as a checkout under /root. The program keeps root's access to files.
 */
export type RunAs = 'self' | 'nobody' | 'unshare'

export type Invocation = {
  readonly file: string
  readonly args: string[]
  readonly uid?: number
  readonly gid?: number
}

/** The uid and gid of `nobody` on Linux and in user namespaces. PostgreSQL only runs under a uid that has a name. */
const NOBODY_ID = 65534

const UNSHARE_ARGS = ['--user', `--map-user=${NOBODY_ID}`, `--map-group=${NOBODY_ID}`, '--']

/**
 * Chooses the user for a program that uses `paths`. The user must be able to enter each of these paths.
 *
 * @throws Error if we are root, `nobody` cannot enter one of the paths, and user namespaces are not available (as in
 * some containers).
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

/** Returns the command line and the identity with which to start one program. */
export const invocation = (runAs: RunAs, file: string, args: readonly string[]): Invocation => {
  if (runAs === 'self') return { file, args: [...args] }
  if (runAs === 'nobody') return { file, args: [...args], uid: NOBODY_ID, gid: NOBODY_ID }
  return { file: 'unshare', args: [...UNSHARE_ARGS, file, ...args] }
}

/**
 * Gives a file, or a folder and everything in it, to the program's user. Does nothing if this user already owns it.
 */
export const giveTo = (runAs: RunAs, path: string): void => {
  if (runAs === 'self') return
  const id = runAs === 'nobody' ? NOBODY_ID : 0
  if (lstatSync(path).uid === id) return
  chownTree(path, id)
}

// The top folder is changed last. If a run is interrupted, the folder's owner shows that the run was not complete.
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
