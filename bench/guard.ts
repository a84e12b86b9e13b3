import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** What the guard ends and deletes. */
export interface GuardOrder {
  /** The process id of PostgreSQL's postmaster. */
  readonly postmaster: number
  /** The folder with all files of the benchmark. */
  readonly folder: string
}

const POLL_MS = 100
/** PostgreSQL may take this long to stop before it is killed. */
const STOP_MS_MAX = 10_000

/**
 * Runs when the benchmark has ended, however it ended. If PostgreSQL still runs then, the benchmark was killed.
 * PostgreSQL has a session of its own, so nothing else would stop it.
 */
async function cleanUp({ postmaster, folder }: GuardOrder): Promise<void> {
  // In PostgreSQL, this is a fast shutdown, which ends all sessions.
  send(postmaster, 'SIGINT')
  const end = performance.now() + STOP_MS_MAX
  while (send(postmaster, 0)) {
    if (performance.now() > end) send(postmaster, 'SIGKILL')
    await delay(POLL_MS)
  }
  await rm(folder, { recursive: true, force: true })
}

/** Sends the signal, and returns whether the process exists. The signal 0 only asks. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

process.once('message', (order: GuardOrder) => {
  process.once('disconnect', () => void cleanUp(order))
  process.send?.({ ready: true })
})
