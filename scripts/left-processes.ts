import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** How long a process may take to exit after the tests have ended. If it still runs then, no test has stopped it. */
const LEFT_GRACE_MS = 2_000
const LEFT_POLL_MS = 50

export interface LeftProcess {
  readonly pid: number
  readonly command: string
}

/**
 * Finds processes that a test run has left running. `mark` is in the environment of all processes of the run. Returns
 * those that are still running after a short grace period.
 */
export async function findLeftProcesses(mark: string): Promise<LeftProcess[]> {
  let left = findMarkedProcesses(mark)
  for (let waitedMs = 0; left.length > 0 && waitedMs < LEFT_GRACE_MS; waitedMs += LEFT_POLL_MS) {
    await delay(LEFT_POLL_MS)
    left = findMarkedProcesses(mark)
  }
  return left
}

/**
 * Finds processes whose environment contains `mark` (`NAME=value`), in any group and with any parent. Works on Linux
 * only; elsewhere the list is empty.
 */
function findMarkedProcesses(mark: string): LeftProcess[] {
  return listPids()
    .filter((pid) => pid !== process.pid && readProcess(pid, 'environ').split('\0').includes(mark))
    .map((pid) => ({ pid, command: readProcess(pid, 'cmdline').split('\0').join(' ').trim() }))
    .filter(({ command }) => command !== '')
}

function listPids(): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** Reads a file in a process's folder. Returns an empty text if the process has ended or belongs to another user. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
