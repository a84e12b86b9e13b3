import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isProcessAlive, readCommand } from '../lib/process-facts.ts'
import { pollUntil } from '../lib/process-poll.ts'
import { writeFileAtomically } from '../lib/write-file-atomically.ts'

/**
 * How long the programs of a killed sandbox may keep running. They notice at once that it is gone, and finish their
 * work.
 */
const LEFTOVER_MS_MAX = 5_000

interface Recorded {
  readonly pid: number
  /** The command line. It distinguishes the process from a later process with the same id. */
  readonly command: string
}

export interface ProcessRecord {
  add(pid: number): void
  remove(pid: number): void
}

export const PROCESSES_FILE_NAME = 'processes.json'

/**
 * Records which of our programs run on a data directory. If this process is killed, the next start reads the record.
 */
export function openProcessRecord(dataDir: string): ProcessRecord {
  const file = join(dataDir, PROCESSES_FILE_NAME)
  let running: readonly Recorded[] = []
  const write = (next: readonly Recorded[]): void => {
    running = next
    writeFileAtomically(file, JSON.stringify(running))
  }
  return {
    add: (pid) => write([...running, { pid, command: readCommand(pid) }]),
    remove: (pid) => write(running.filter((program) => program.pid !== pid)),
  }
}

/**
 * Waits until the programs that a killed sandbox left running have exited. They notice that the sandbox is gone, and
 * exit without a signal. Kills the programs that are still running after `LEFTOVER_MS_MAX`.
 */
export async function endLeftovers(dataDir: string): Promise<void> {
  const left = readRecord(join(dataDir, PROCESSES_FILE_NAME)).filter(isSame)
  const areGone = (): boolean => !left.some(isSame)
  if (await pollUntil(areGone, LEFTOVER_MS_MAX)) return
  for (const program of left.filter(isSame)) process.kill(program.pid, 'SIGKILL')
  if (!(await pollUntil(areGone, LEFTOVER_MS_MAX))) throw new Error('The processes of an earlier sandbox did not exit.')
}

function isSame({ pid, command }: Recorded): boolean {
  return isProcessAlive(pid) && readCommand(pid) === command
}

function readRecord(file: string): readonly Recorded[] {
  if (!existsSync(file)) return []
  try {
    const record: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(record) ? record.filter(isRecorded) : []
  } catch {
    return []
  }
}

function isRecorded(value: unknown): value is Recorded {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    Number.isSafeInteger(value.pid) &&
    'command' in value &&
    typeof value.command === 'string' &&
    value.command !== ''
  )
}
