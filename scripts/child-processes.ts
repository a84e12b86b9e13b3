import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** How long a child and its own children may take to stop in order before they are killed. */
const STOP_GRACE_MS = 10_000
const STOP_POLL_MS = 20

export interface ChildOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** `pass` writes to our own output as it comes, `keep` returns it. */
  readonly output: 'pass' | 'keep'
}

export interface ChildResult {
  /** The exit code; 1 when a signal ended the child. */
  readonly exitCode: number
  /** What it wrote, when kept. */
  readonly output: string
}

/**
 * Children, each the head of a process group of its own: a group can be stopped whole, grandchildren included, and
 * Ctrl-C in a terminal reaches us alone, so that everything is stopped once and in order.
 */
export class ChildProcesses {
  readonly #running = new Set<ChildProcess>()

  /** Runs a program to its end. Rejects when it can't be started. */
  async run(file: string, args: readonly string[], { cwd, env, output }: ChildOptions): Promise<ChildResult> {
    const pipe = output === 'pass' ? 'inherit' : 'pipe'
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', pipe, pipe] })
    this.#running.add(child)
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
    }
    try {
      const [code] = (await once(child, output === 'pass' ? 'exit' : 'close')) as [number | null]
      return { exitCode: code ?? 1, output: text }
    } finally {
      this.#running.delete(child)
    }
  }

  /** Stops every group, in bounded time. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running].map(stopGroup))
  }
}

/** Asks the whole group to stop, and kills what is left after the grace. A group that is gone is stopped. */
async function stopGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
  for (let waitedMs = 0; waitedMs < STOP_GRACE_MS; waitedMs += STOP_POLL_MS) {
    if (!signalGroup(pid, 0)) return
    await delay(STOP_POLL_MS)
  }
  signalGroup(pid, 'SIGKILL')
}

/** Whether there was a group to receive the signal. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}
