import type { DeferredWrites } from '../../db/deferred-writes.ts'
import type { SentReport } from '../../lib/outbound/send-request.ts'
import type { OutboundRequestRow, RequestSource } from './outbound-request.ts'
import { insertOutboundRequests } from './outbound-requests-store.ts'

declare module '../context.ts' {
  interface Context {
    /** The rows of requests to other servers, which are written together. */
    readonly outboundTrace: OutboundTrace
  }
}

/** How long a row waits for others, so that they need one statement. */
const WAIT_MS = 1_000
/** At most this many rows are written together. */
const ROWS_TOGETHER_MAX = 200

/**
 * Writes the rows of requests to other servers (D94). No request waits for its row. A row is lost if the process dies
 * within about a second, or if the database cannot keep up; then `DeferredWrites` logs a warning.
 */
export class OutboundTrace {
  readonly #writes: Pick<DeferredWrites, 'add'>
  #waiting: OutboundRequestRow[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(writes: Pick<DeferredWrites, 'add'>) {
    this.#writes = writes
  }

  /** Returns a function that records a request of this source when it has ended. Null for a metadata document. */
  of(source: RequestSource | null): (report: SentReport) => void {
    return (report) => {
      this.#waiting.push({ source, ...report })
      if (this.#waiting.length >= ROWS_TOGETHER_MAX) this.flush()
      else this.#timer ??= setTimeout(() => this.flush(), WAIT_MS)
    }
  }

  /** Passes the rows that wait to the deferred writes. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const rows = this.#waiting
    this.#waiting = []
    if (rows.length > 0) this.#writes.add(insertOutboundRequests(rows))
  }
}
