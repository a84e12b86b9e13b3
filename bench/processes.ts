import { fork, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export interface BenchProcess<Ready> {
  readonly ready: Ready
  readonly child: ChildProcess
  ask<Answer>(message: object): Promise<Answer>
  stop(): Promise<void>
}

const READY_MS_MAX = 20_000
const ANSWER_MS_MAX = 60_000

/** Starts one of the benchmark's processes and waits for its first message. */
export async function startProcess<Ready>(
  file: string,
  { environment = {}, first, log }: { environment?: Record<string, string>; first?: object; log?: number } = {},
): Promise<BenchProcess<Ready>> {
  const out = log ?? 'ignore'
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      ...environment,
    },
    stdio: ['ignore', out, log ?? 'inherit', 'ipc'],
  })
  const ready = nextMessage<Ready>(child, READY_MS_MAX)
  if (first !== undefined) child.send(first)
  return {
    ready: await ready,
    child,
    async ask<Answer>(message: object) {
      const answer = nextMessage<Answer>(child, ANSWER_MS_MAX)
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

async function nextMessage<Message>(child: ChildProcess, msMax: number): Promise<Message> {
  return await new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new Error('a process of the bench did not respond'))), msMax)
    const onExit = (): void => settle(() => reject(new Error('a process of the bench exited')))
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

/**
 * Returns how much memory a process uses now, in MiB (resident, including shared pages, as Linux counts it). Returns
 * null on other systems.
 */
export async function residentMiB(pid: number | undefined): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kib === undefined ? null : Math.round(Number(kib) / 1_024)
}
