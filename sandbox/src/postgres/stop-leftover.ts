import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FAST_STOP_TIMEOUT_MS, QUIT_TIMEOUT_MS } from './limit.ts'
import { isProcessAlive, readCommand, readParent } from './process-facts.ts'
import { pollUntil } from './process-poll.ts'

/** What the start writes into `cluster_name`, so that a later start can tell whose server it meets. */
export const formatClusterName = (ownerPid: number): string => `bursar_${ownerPid}`

/**
 * Stops the server that a killed sandbox left on this data directory. Does nothing when there is none.
 *
 * A server outlives its parent and refuses a second one on its data. One whose parent still lives belongs to another
 * sandbox and is left alone.
 *
 * @throws Error when another living sandbox uses the directory, or when the server can't be stopped.
 */
export const stopLeftover = async (dataDir: string): Promise<void> => {
  const lockFile = join(dataDir, 'postmaster.pid')
  const pid = readPid(lockFile)
  if (pid === undefined) return
  if (!isProcessAlive(pid) || !isServerOf(pid, dataDir)) {
    // The process id may belong to another program meanwhile, or to a corpse. PostgreSQL itself can't tell, and would
    // refuse to start. Backends that are still there hold its shared memory, which it looks at too.
    rmSync(lockFile, { force: true })
    return
  }
  const owner = readOwner(dataDir)
  if (owner !== undefined && readParent(pid) === owner) {
    throw new Error(`${dataDir} is in use by another sandbox (process ${owner}): stop it first`)
  }
  await stopProcess(pid, () => isProcessAlive(pid))
}

/** Ends a server: a fast shutdown, then one without a checkpoint, then by force. Each step has its time. */
export const stopProcess = async (pid: number, isAlive: () => boolean): Promise<void> => {
  const isGone = (): boolean => !isAlive()
  const steps = [
    ['SIGINT', FAST_STOP_TIMEOUT_MS],
    ['SIGQUIT', QUIT_TIMEOUT_MS],
    ['SIGKILL', QUIT_TIMEOUT_MS],
  ] as const
  for (const [signal, timeoutMs] of steps) {
    if (isGone()) return
    process.kill(pid, signal)
    if (await pollUntil(isGone, timeoutMs)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) does not stop`)
}

const readPid = (lockFile: string): number | undefined => {
  if (!existsSync(lockFile)) return undefined
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0])
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
}

const isServerOf = (pid: number, dataDir: string): boolean => {
  const command = readCommand(pid)
  return command.includes('postgres') && command.includes(dataDir)
}

const readOwner = (dataDir: string): number | undefined => {
  const optionsFile = join(dataDir, 'postmaster.opts')
  if (!existsSync(optionsFile)) return undefined
  const owner = /bursar_(\d+)/.exec(readFileSync(optionsFile, 'utf8'))?.[1]
  return owner === undefined ? undefined : Number(owner)
}
