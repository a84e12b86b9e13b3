type Answer = { operation: string; status: number | null; code: string; cause?: unknown }

/**
 * The outcome of a call is not known: no answer, or one that does not tell (D24). What was asked for may or may not have
 * happened. The message holds the operation, the status and the enclave's error code, never headers or signatures.
 */
export class EnclaveUnavailable extends Error {
  override readonly name = 'EnclaveUnavailable'
  /** HTTP status, or null when there was no answer. */
  readonly status: number | null
  readonly code: string

  constructor({ operation, status, code, cause }: Answer) {
    super(`the enclave did not tell the outcome of ${operation} (${told(status, code)})`, { cause })
    this.status = status
    this.code = code
  }
}

/** The enclave surely did not do what was asked for, and asking again in the same words is of no use. */
export class EnclaveRefused extends Error {
  override readonly name = 'EnclaveRefused'
  readonly status: number
  readonly code: string
  /** The enclave's own sentence, cut to a bounded length. */
  readonly reason: string

  constructor({
    operation,
    status,
    code,
    reason,
  }: {
    operation: string
    status: number
    code: string
    reason: string
  }) {
    super(`the enclave refused ${operation} (${told(status, code)}): ${reason}`)
    this.status = status
    this.code = code
    this.reason = reason
  }
}

function told(status: number | null, code: string): string {
  return status === null ? code : `${status} ${code}`
}
