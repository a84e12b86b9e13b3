import { randomBytes } from 'node:crypto'
import { open, readFile, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makePrivateFolder } from './private-files.ts'

const POLL_MS = 50
/** A lock that is older than this was left behind, because no work under a lock takes this long. */
export const LOCK_AGE_MS_MAX = 120_000
/**
 * To remove an old lock, a process holds a second lock for milliseconds. A second lock older than this was left behind.
 */
const REMOVAL_AGE_MS_MAX = 10_000

interface Holder {
  readonly host: string
  readonly pid: number
}

/**
 * Runs `work` while this process holds the lock, a file beside the files that it protects. While another process holds
 * it, calls `isDone` from time to time, and returns null as soon as the other process has done the work.
 *
 * A lock whose process has died is removed.
 *
 * @throws Error if the lock is not free after `waitMsMax`.
 */
export async function withFileLock<Result>(
  path: string,
  { work, isDone, waitMsMax }: { work: () => Promise<Result>; isDone: () => Promise<boolean>; waitMsMax: number },
): Promise<Result | null> {
  await makePrivateFolder(dirname(path))
  const content = `${JSON.stringify({ host: hostname(), pid: process.pid, id: randomBytes(8).toString('hex') })}\n`
  const deadlineMs = performance.now() + waitMsMax
  while (!(await takeLock(path, content))) {
    if (await isDone()) return null
    await removeIfLeft(path)
    if (performance.now() > deadlineMs) throw new Error(`another process holds ${path}`)
    await delay(POLL_MS)
  }
  try {
    return await work()
  } finally {
    if ((await readIfPresent(path)) === content) await rm(path, { force: true })
  }
}

async function takeLock(path: string, content: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(content)
    await file.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a lock that was left behind. A second lock allows this to one process at a time. Otherwise, between the check
 * and the removal, another process could remove the old lock and take a new one, which would then be removed.
 */
async function removeIfLeft(path: string): Promise<void> {
  if (!(await isLeft(path))) return
  const removal = `${path}.removal`
  if (!(await takeLock(removal, ''))) {
    if ((await ageOf(removal)) > REMOVAL_AGE_MS_MAX) await rm(removal, { force: true })
    return
  }
  try {
    if (await isLeft(path)) await rm(path, { force: true })
  } finally {
    await rm(removal, { force: true })
  }
}

async function isLeft(path: string): Promise<boolean> {
  const content = await readIfPresent(path)
  if (content === null) return false
  if ((await ageOf(path)) > LOCK_AGE_MS_MAX) return true
  const holder = parseHolder(content)
  return holder !== null && holder.host === hostname() && !isAlive(holder.pid)
}

async function ageOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => null)
  return found === null ? 0 : Date.now() - found.mtimeMs
}

/** Returns null for a lock that another process has made and not written yet. */
function parseHolder(content: string): Holder | null {
  try {
    return JSON.parse(content) as Holder
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

async function readIfPresent(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch(() => null)
}
