import type { ExitCode } from './exit-codes.ts'

export interface CliErrorOptions {
  readonly exitCode: ExitCode
  /** A stable word for programs, such as `not_signed_in` or a code of the service. */
  readonly code: string
  /** Data that belongs to the message, such as the `details` of the service's error. */
  readonly details?: unknown
  /** The command to run next, with its arguments. */
  readonly next?: readonly string[] | null
  /** What a person should do, as a sentence. */
  readonly hint?: string | undefined
  /** Further members of the JSON answer, beside `error`. */
  readonly answer?: Readonly<Record<string, unknown>>
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

/** An error that ends the command. Its message is for people and never contains a credential. */
export class CliError extends Error {
  readonly exitCode: ExitCode
  readonly code: string
  readonly details: unknown
  readonly next: readonly string[] | null
  readonly hint: string | undefined
  readonly answer: Readonly<Record<string, unknown>>
  readonly requestId: string | undefined

  constructor(message: string, options: CliErrorOptions) {
    super(message, { cause: options.cause })
    this.name = 'CliError'
    this.exitCode = options.exitCode
    this.code = options.code
    this.details = options.details
    this.next = options.next ?? null
    this.hint = options.hint
    this.answer = options.answer ?? {}
    this.requestId = options.requestId
  }

  /** Returns the same error with other advice. */
  with(advice: Pick<CliErrorOptions, 'hint' | 'next'>): CliError {
    const { exitCode, code, details, next, hint, answer, requestId, cause } = this
    return new CliError(this.message, { exitCode, code, details, next, hint, answer, requestId, cause, ...advice })
  }
}

/** Returns the error for a command that was called wrongly. Nothing was sent. */
export function usageError(message: string, options: Partial<CliErrorOptions> = {}): CliError {
  return new CliError(message, { exitCode: 2, code: 'usage', ...options })
}
