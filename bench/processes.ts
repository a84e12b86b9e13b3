import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface BenchProcess<Ready> {
  readonly ready: Ready
  readonly child: ChildProcess
  ask<Answer>(message: object): Promise<Answer>
  stop(): Promise<void>
}

const READY_MS_MAX = 120_000
const ANSWER_MS_MAX = 120_000

interface StartOptions {
  readonly environment?: Record<string, string>
  /** The first message to the process, which it needs to become ready. */
  readonly first?: object
  /** The file descriptor of the log. */
  readonly log?: number
  /** Flags of Node. */
  readonly flags?: readonly string[]
  /** If true, Ctrl-C in the terminal reaches only the benchmark, not the process that it starts. */
  readonly detached?: boolean
}

/** Starts one of the benchmark's processes and waits for its first message. */
export async function startProcess<Ready>(
  file: string,
  { environment = {}, first, log, flags = [], detached = false }: StartOptions = {},
): Promise<BenchProcess<Ready>> {
  const out = log ?? 'ignore'
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ...environment,
    },
    execArgv: ['--disable-warning=ExperimentalWarning', ...flags],
    detached,
    stdio: ['ignore', out, log ?? 'inherit', 'ipc'],
  })
  const ready = nextMessage<Ready>(child, { file, msMax: READY_MS_MAX })
  if (first !== undefined) child.send(first)
  return {
    ready: await ready,
    child,
    async ask<Answer>(message: object) {
      const answer = nextMessage<Answer>(child, { file, msMax: ANSWER_MS_MAX })
      child.send(message)
      return await answer
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = new Promise((resolve) => {
        child.once('exit', resolve)
      })
      child.kill('SIGTERM')
      await exit
    },
  }
}

async function nextMessage<Message>(
  child: ChildProcess,
  { file, msMax }: { file: string; msMax: number },
): Promise<Message> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new Error(`${file} did not respond`))), msMax)
    const onExit = (code: number | null): void => settle(() => reject(new Error(`${file} exited with code ${code}`)))
    const onMessage = (message: Message): void => settle(() => resolve(message))
    const settle = (done: () => void): void => {
      clearTimeout(timer)
      child.off('exit', onExit)
      child.off('message', onMessage)
      done()
    }
    child.once('exit', onExit)
    child.once('message', onMessage)
  })
}
