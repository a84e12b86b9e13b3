import { cleanLine, toSafeJson } from './clean-text.ts'
import { formatCommand } from './format-command.ts'
import { createPaint, usesColor, type Paint } from './style.ts'
import type { CliError } from '../cli-error.ts'

/** A stream of the program. `process.stdout` and `process.stderr` are such streams. */
export interface Stream {
  readonly isTTY?: boolean
  write(text: string | Uint8Array): boolean
}

export interface OutputOptions {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly env: NodeJS.ProcessEnv
  /** What the caller chose with `--json` or `--no-json`. Undefined: JSON unless a person reads it on a terminal. */
  readonly json: boolean | undefined
}

/**
 * `body` is the answer as JSON, with a name for each value. `next` is the command that may come next. `human` writes
 * the answer for people.
 */
export interface Answer {
  readonly body: Readonly<Record<string, unknown>>
  readonly next: readonly string[] | null
  readonly human: (paint: Paint) => string
}

/**
 * Writes results to standard output and everything else to standard error. In JSON, a command writes exactly one
 * answer, or one line for each event, and an error as one line on standard error.
 */
export class Output {
  readonly isJson: boolean
  readonly #stdout: Stream
  readonly #stderr: Stream
  readonly #paint: Paint
  readonly #paintError: Paint
  /** Whether the last line of standard error shows the progress, which the next output replaces. */
  #hasProgress = false

  constructor({ stdout, stderr, env, json }: OutputOptions) {
    this.#stdout = stdout
    this.#stderr = stderr
    this.isJson = json ?? stdout.isTTY !== true
    this.#paint = createPaint(usesColor(env, stdout.isTTY === true))
    this.#paintError = createPaint(usesColor(env, stderr.isTTY === true))
  }

  /** Whether standard output is a terminal, where bytes from elsewhere could do harm. */
  get isTerminal(): boolean {
    return this.#stdout.isTTY === true
  }

  answer({ body, next, human }: Answer): void {
    this.#endProgress()
    if (this.isJson) {
      const indent = this.isTerminal ? 2 : undefined
      this.#stdout.write(`${toSafeJson({ ...body, next }, indent)}\n`)
      return
    }
    this.#stdout.write(human(this.#paint))
    if (next !== null) this.hint(`Next: ${formatCommand(next)}`)
  }

  /** Writes one of many results: a line of JSON, or a line for people. */
  line(body: unknown, human: (paint: Paint) => string): void {
    this.#endProgress()
    this.#stdout.write(this.isJson ? `${toSafeJson(body)}\n` : `${human(this.#paint)}\n`)
  }

  /** Writes bytes to standard output unchanged. */
  bytes(content: Uint8Array | string): void {
    this.#endProgress()
    this.#stdout.write(content)
  }

  /** Tells people something that is not part of the result. In JSON, nothing is written. */
  note(text: string): void {
    if (!this.isJson) this.#writeError(`${text}\n`)
  }

  /** Like `note`, but less prominent. */
  hint(text: string): void {
    if (!this.isJson) this.#writeError(`${this.#paintError('dim', text)}\n`)
  }

  /** Writes to standard error: a line of JSON, or a text for people. */
  notice(body: unknown, text: string): void {
    this.#writeError(this.isJson ? `${toSafeJson(body)}\n` : `${text}\n`)
  }

  /** Shows what the command waits for, on a terminal only. The next output replaces it. */
  progress(text: string): void {
    if (this.isJson || this.#stderr.isTTY !== true) return
    this.#stderr.write(`\r\u001b[2K${this.#paintError('dim', cleanLine(text))}`)
    this.#hasProgress = true
  }

  error(error: CliError): void {
    const { code, message, details, requestId, hint, next, answer } = error
    if (this.isJson) {
      const body = { code, message, details, request_id: requestId, hint }
      this.#writeError(`${toSafeJson({ error: body, ...answer, next })}\n`)
      return
    }
    const lines = [`${this.#paintError('red', 'Error:')} ${cleanLine(message)}`]
    if (hint !== undefined) lines.push(cleanLine(hint))
    if (next !== null) lines.push(`Next: ${cleanLine(formatCommand(next))}`)
    if (requestId !== undefined) lines.push(this.#paintError('dim', `Request id: ${cleanLine(requestId)}`))
    this.#writeError(`${lines.join('\n')}\n`)
  }

  #writeError(text: string): void {
    this.#endProgress()
    this.#stderr.write(text)
  }

  #endProgress(): void {
    if (!this.#hasProgress) return
    this.#hasProgress = false
    this.#stderr.write('\r\u001b[2K')
  }
}
