import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** How long a child and its own children may take to stop cleanly. Then they are killed. */
const STOP_GRACE_MS = 10_000
const STOP_POLL_MS = 20

export interface ChildOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** `pass` writes the output to our own output as it arrives. `keep` returns it at the end. */
  readonly output: 'pass' | 'keep'
}

export interface ChildResult {
  /** The exit code; 1 if a signal ended the child. */
  readonly exitCode: number
  /** The child's output, if it was kept. */
  readonly output: string
}

/**
 * Starts and stops child processes. Each one leads its own process group, so that it can be stopped together with its
 * own children. Ctrl-C in a terminal therefore reaches only our own process, which then stops the children in order.
 */
export class ChildProcesses {
  readonly #running = new Set<ChildProcess>()
  #isStopped = false

  /** Whether `stopAll` was called. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Runs a program until it exits. Rejects if the program cannot be started. After `stopAll`, starts nothing. */
  async run(file: string, args: readonly string[], { cwd, env, output }: ChildOptions): Promise<ChildResult> {
    if (this.#isStopped) return { exitCode: 1, output: '' }
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

  /** Stops every process group, for good. Waits only for a limited time. */
  async stopAll(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#running].map(stopGroup))
  }
}

/**
 * Asks all processes of a group to stop, and kills the remaining ones after the grace period. Does nothing if the group
 * has already ended.
 */
async function stopGroup({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined || !signalGroup(pid, 'SIGTERM')) return
  for (let waitedMs = 0; waitedMs < STOP_GRACE_MS; waitedMs += STOP_POLL_MS) {
    if (!signalGroup(pid, 0)) return
    await delay(STOP_POLL_MS)
  }
  signalGroup(pid, 'SIGKILL')
}

/** Sends a signal to a group. Returns false if the group no longer exists. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch {
    return false
  }
}
