import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** How long a process may take to exit after the tests have ended. If it still runs then, no test has stopped it. */
const GRACE_MS = 2_000
const POLL_MS = 50

/**
 * Kills the processes of a test run that are still running after a short grace period, and returns their command lines.
 * `mark` (`NAME=value`) is in the environment of all processes of the run, whatever their parent or group is. Works on
 * Linux only; elsewhere no process is found.
 */
export async function endLeftProcesses(mark: string): Promise<readonly string[]> {
  let left = findProcesses(mark)
  for (let waitedMs = 0; left.length > 0 && waitedMs < GRACE_MS; waitedMs += POLL_MS) {
    await delay(POLL_MS)
    left = findProcesses(mark)
  }
  const commands = left.map((pid) => readProcess(pid, 'cmdline').join(' ').trim())
  for (const pid of left) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has just ended.
    }
  }
  return commands
}

function findProcesses(mark: string): number[] {
  if (process.platform !== 'linux') return []
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  // A process that has ended, but whose parent has not yet noticed, has no environment.
  return pids.filter((pid) => readProcess(pid, 'environ').some((entry) => entry.startsWith(mark)))
}

/** Reads a list of texts in a process's folder. It is empty if the process has ended or belongs to another user. */
function readProcess(pid: number, file: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
  } catch {
    return []
  }
}
