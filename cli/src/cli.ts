import type { Command } from 'commander'
import { CliError } from './cli-error.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { Output } from './output/output.ts'
import { readSettings, type Settings } from './settings.ts'

/** The options that every command has. */
export interface GlobalOptions {
  readonly json?: boolean
  readonly url?: string
}

/** What every command receives. */
export interface Cli {
  readonly env: NodeJS.ProcessEnv
  readonly output: Output
  readonly globals: GlobalOptions
  /** Whether a person sits at the terminal and can be asked something. */
  readonly isInteractive: boolean
  /** Decides which service to call, and as whom. */
  settings(): Promise<Settings>
  /** Returns a command of this program to run next, for the same service. */
  next(...args: readonly string[]): string[]
}

/** A command's work. Returns the exit code, or nothing if the exit code is 0. */
export type Work = (cli: Cli) => Promise<ExitCode | void>

/** Runs a command's work with its global options, and remembers its exit code. */
export type Run = (command: Command, work: Work) => Promise<void>

export function createCli(command: Command, env: NodeJS.ProcessEnv): Cli {
  const globals: GlobalOptions = command.optsWithGlobals()
  const { stdout, stderr, stdin } = process
  const output = new Output({ stdout, stderr, env, json: globals.json })
  let settings: Promise<Settings> | undefined
  return {
    env,
    output,
    globals,
    isInteractive: stdin.isTTY && stderr.isTTY,
    settings: () => (settings ??= readSettings(env, globals.url)),
    next: (...args) => ['bursar', ...args, ...(globals.url === undefined ? [] : ['--url', globals.url])],
  }
}

/** Turns anything that was thrown into an error for the caller. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new CliError(message, { exitCode: EXIT.failure, code: 'internal', cause: error })
}
