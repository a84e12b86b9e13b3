type Outcome = { operation: string; status: number | null; code: string; cause?: unknown }

/**
 * The outcome of a call is unknown: there was no response, or the response does not show whether the operation happened
 * (D24). The error's message contains the operation, the status and the enclave's error code, never headers or
 * signatures.
 */
export class EnclaveUnavailable extends Error {
  override readonly name = 'EnclaveUnavailable'
  /** HTTP status, or null if there was no response. */
  readonly status: number | null
  readonly code: string

  constructor({ operation, status, code, cause }: Outcome) {
    super(`the outcome of ${operation} at the enclave is unknown (${formatStatus(status, code)})`, { cause })
    this.status = status
    this.code = code
  }
}

/** No call has reached the enclave for some seconds, so nothing was asked of it. */
export class EnclaveOutOfReach extends Error {
  override readonly name = 'EnclaveOutOfReach'

  constructor() {
    super('the enclave has been out of reach for some seconds')
  }
}

/**
 * The enclave rejected the request and certainly did not carry out the operation. It would reject the same request
 * again.
 */
export class EnclaveRefused extends Error {
  override readonly name = 'EnclaveRefused'
  readonly status: number
  readonly code: string
  /** The enclave's own message, cut to a maximum length. */
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
    super(`the enclave rejected ${operation} (${formatStatus(status, code)}): ${reason}`)
    this.status = status
    this.code = code
    this.reason = reason
  }
}

function formatStatus(status: number | null, code: string): string {
  return status === null ? code : `${status} ${code}`
}
