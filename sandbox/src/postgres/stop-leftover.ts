import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FAST_STOP_TIMEOUT_MS, QUIT_TIMEOUT_MS } from './limit.ts'
import { isProcessAlive, readCommand, readParent } from '../lib/process-facts.ts'
import { pollUntil } from '../lib/process-poll.ts'

/**
 * Returns the value of `cluster_name` for a server that this process starts. If the server is left running, the sandbox
 * recognizes it by this value when it starts again.
 */
export const formatClusterName = (ownerPid: number): string => `bursar_${ownerPid}`

/**
 * Stops the server that a killed sandbox left running on this data directory. Does nothing if there is none.
 *
 * A server keeps running after its parent was killed, and prevents a second server from using its data. If the server's
 * parent is alive, the server belongs to another sandbox, and this function does not stop it.
 *
 * @throws Error if another running sandbox uses the directory, or if the server cannot be stopped.
 */
export const stopLeftover = async (dataDir: string): Promise<void> => {
  const lockFile = join(dataDir, 'postmaster.pid')
  const pid = readPid(lockFile)
  if (pid === undefined) return
  if (!isProcessAlive(pid) || !isServerOf(pid, dataDir)) {
    // The server has exited. Its process id may now belong to another program or to a zombie. PostgreSQL would mistake
    // that process for the old server and refuse to start, so the lock file is removed. This is safe: PostgreSQL also
    // checks whether backend processes still use the old server's shared memory.
    rmSync(lockFile, { force: true })
    return
  }
  const owner = readOwner(dataDir)
  if (owner !== undefined && readParent(pid) === owner) {
    throw new Error(`${dataDir} is in use by another sandbox (process ${owner}): stop it first`)
  }
  await stopProcess(pid, () => isProcessAlive(pid))
}

/**
 * Stops a server: first with a fast shutdown, then without a checkpoint, then with a kill. Each step has a time limit.
 */
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
