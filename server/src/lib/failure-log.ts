import type { Logger } from './logger.ts'

/** For how long failures of the same kind are only counted. */
const PERIOD_MS = 60_000
/** Of this many kinds each has its own line in a period. All further kinds share one. */
const KINDS_MAX = 200
const OTHERS = 'others'
const CAUSES_MAX = 4

interface Failure {
  /** The pattern of the route, or the tool. */
  readonly where: string
  readonly code: string
  readonly message: string
  /** The id of the request that failed. */
  readonly request: string
  /** What was thrown. */
  readonly error: unknown
}

interface Counted {
  count: number
  example: string
}

/**
 * The log of what failed on our side. While the enclave or the database is away, thousands of requests fail in the same
 * way. So only the first failure of a kind has a line with its stack, and all others of the next minute together have
 * one line with their number. Each request has its own short line anyway.
 */
export class FailureLog {
  readonly #logger: Logger
  readonly #kinds = new Map<string, Counted>()
  readonly #periodMs: number

  /** Only tests set the period. */
  constructor(logger: Logger, periodMs = PERIOD_MS) {
    this.#logger = logger
    this.#periodMs = periodMs
  }

  add(failure: Failure): void {
    const own = kindOf(failure)
    const kind = this.#kinds.has(own) || this.#kinds.size < KINDS_MAX ? own : OTHERS
    const counted = this.#kinds.get(kind)
    if (counted !== undefined) {
      counted.count += 1
      counted.example = failure.request
      return
    }
    this.#kinds.set(kind, { count: 0, example: '' })
    setTimeout(() => this.#sum(kind, failure), this.#periodMs).unref()
    const { error, request, where, code, message } = failure
    this.#logger.error({ err: error, request, where, code }, message)
  }

  #sum(kind: string, { request: first, where, code }: Failure): void {
    const { count = 0, example } = this.#kinds.get(kind) ?? {}
    this.#kinds.delete(kind)
    if (count === 0) return
    const place = kind === OTHERS ? {} : { where, code }
    this.#logger.error({ count, first, example, ...place }, 'more requests failed in the same way')
  }
}

/** Failures are of one kind if they have the same place and code, and the same errors thrown at the same lines. */
function kindOf({ where, code, error }: Failure): string {
  const parts = [where, code]
  let cause = error
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth += 1) {
    parts.push(cause.name, /^ +at .*$/m.exec(cause.stack ?? '')?.[0] ?? '')
    cause = cause.cause
  }
  return parts.join('\n')
}
