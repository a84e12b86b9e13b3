import { readdir, readFile } from 'node:fs/promises'

/** The length of a tick of `/proc/<pid>/stat`, in microseconds. Linux has used this value for decades. */
const TICK_US = 10_000

/**
 * Returns how much processor time (user and system, of all threads) these processes have used so far, in microseconds.
 * Returns null where Linux's `/proc` is missing.
 *
 * Processor time is far less noisy than a rate: other programs on the machine slow a process down, but they hardly
 * change how much processor time one request needs.
 */
export async function readProcessorUs(pids: readonly (number | undefined)[]): Promise<number | null> {
  const times = await Promise.all(pids.map(readProcessUs))
  return times.some((time) => time === null) ? null : times.reduce<number>((sum, time) => sum + (time ?? 0), 0)
}

/**
 * Returns the processor time of a whole PostgreSQL: the postmaster, the processes that it has now, and those that have
 * ended. In microseconds.
 */
export async function readClusterUs(postmaster: number): Promise<number | null> {
  for (;;) {
    const ended = await readEndedUs(postmaster)
    if (ended === null) return null
    const children = await listChildren(postmaster)
    const running = await Promise.all([postmaster, ...children].map(readProcessUs))
    // If a child has ended meanwhile, its time may be missing, or counted twice. Then everything is read again.
    const isComplete = (await readEndedUs(postmaster)) === ended && !running.includes(null)
    if (isComplete) return running.reduce<number>((sum, time) => sum + (time ?? 0), ended)
  }
}

async function readProcessUs(pid: number | undefined): Promise<number | null> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const times = await Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')
      return Number(text.split(' ')[0]) / 1_000
    }),
  )
  return threads.length === 0 ? null : times.reduce((sum, time) => sum + time, 0)
}

/** The fields 16 and 17 of `stat` are the times of the children that have ended and were waited for. */
async function readEndedUs(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (text === null) return null
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_US
}

async function listChildren(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.trim() === '' ? [] : text.trim().split(' ').map(Number)
}

/** What processes have sent and received so far, over sockets, pipes and files. */
export interface Traffic {
  readonly writes: number
  readonly sentBytes: number
  readonly receivedBytes: number
}

/** Returns the traffic of these processes together. Throws where `/proc` is missing. */
export async function readTraffic(pids: readonly (number | undefined)[]): Promise<Traffic> {
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/io`, 'utf8')))
  const sum = (name: string): number =>
    texts.reduce((total, text) => total + Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1]), 0)
  return { writes: sum('syscw'), sentBytes: sum('wchar'), receivedBytes: sum('rchar') }
}
