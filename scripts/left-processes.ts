import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A process that was told to stop may take this long to be gone; what stays longer was left behind. */
const LEFT_GRACE_MS = 2_000
const LEFT_POLL_MS = 50

export interface LeftProcess {
  readonly pid: number
  readonly command: string
}

/** The processes of a run that are still there after a short grace, found by its mark. */
export async function findLeftProcesses(mark: string): Promise<LeftProcess[]> {
  let left = findMarkedProcesses(mark)
  for (let waitedMs = 0; left.length > 0 && waitedMs < LEFT_GRACE_MS; waitedMs += LEFT_POLL_MS) {
    await delay(LEFT_POLL_MS)
    left = findMarkedProcesses(mark)
  }
  return left
}

/**
 * Processes whose environment holds `mark` (`NAME=value`), whatever group or parent they have now. Linux alone can tell;
 * elsewhere the list is empty.
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

/** Empty when the process has ended meanwhile, or belongs to someone else. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
