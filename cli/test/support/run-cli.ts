import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '../../../test/support/wait-for.ts'

/** The program as it is published. `npm test` builds it first. */
const PROGRAM = fileURLToPath(new URL('../../bin/bursar.js', import.meta.url))

export interface CliResult {
  /** The exit code. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** What the program reads from standard input. */
  readonly input?: string
}

/** A person's machine: a folder for the files of the command line, and its environment. */
export interface Home {
  readonly folder: string
  /** The file of the program, for tests that start it themselves. */
  readonly program: string
  readonly env: Readonly<Record<string, string>>
  /** Runs a command to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<CliResult>
  /** Starts a command that runs until it is stopped. */
  start(args: readonly string[], options?: RunOptions): StartedCli
  close(): Promise<void>
}

export interface StartedCli {
  readonly process: ChildProcessWithoutNullStreams
  /** Everything that was written so far. */
  readonly output: { readonly stdout: string; readonly stderr: string }
  /** The lines of standard output so far, parsed as JSON. */
  readonly lines: () => readonly Record<string, unknown>[]
  /** Waits until standard output or standard error contains a match, and returns it. */
  readonly matched: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<CliResult>
}

export async function openHome(): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-cli-'))
  const running = new Set<ChildProcessWithoutNullStreams>()
  const env = { XDG_CONFIG_HOME: folder, BROWSER: '' }
  const start = (args: readonly string[], options: RunOptions = {}): StartedCli => {
    const started = startProgram(args, { ...env, ...options.env })
    running.add(started.process)
    void started.ended.then(() => running.delete(started.process))
    if (options.input !== undefined) started.process.stdin.end(options.input)
    return started
  }
  return {
    folder,
    program: PROGRAM,
    env,
    start,
    async run(args, options) {
      const started = start(args, { input: '', ...options })
      return await started.ended
    },
    async close() {
      for (const child of running) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function startProgram(args: readonly string[], env: Readonly<Record<string, string>>): StartedCli {
  const { PATH = '', NODE_COMPILE_CACHE: cache, TMPDIR: temporary } = process.env
  const inherited = { PATH, ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) }
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...inherited, ...(temporary === undefined ? {} : { TMPDIR: temporary }), ...env },
    stdio: 'pipe',
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  // If the program ends before it has read all of its input, writing the rest fails. That is no error of the test.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...output }))
  })
  return {
    process: child,
    output,
    ended,
    lines: () =>
      output.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    matched: (pattern) => waitFor(`${pattern} in the output`, () => pattern.exec(output.stdout + output.stderr)),
  }
}

/** Parses the whole output of a program, which is one JSON value. */
export function parseOne(text: string): Record<string, unknown> {
  return JSON.parse(text) as Record<string, unknown>
}

/** Returns the last line of standard error as JSON: the error. */
export function errorOf({
  stderr,
}: CliResult): { error: Record<string, unknown>; next: unknown } & Record<string, unknown> {
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as ReturnType<typeof errorOf>
}
