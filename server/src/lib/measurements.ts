/**
 * What a process reports about its work while it works. The code that does the work calls these functions; the metrics
 * count the calls, and the traces record them. No argument may contain a name, an address, an amount or a credential,
 * because anybody who can read the metrics sees it, and each value must be one of a few, because each becomes a time
 * series (D75).
 */
export interface Measurements {
  /** A request or a round of a job began `ageMs` ago. Returns null if no traces are kept. */
  startTrace(ageMs: number): Trace | null
  /** Whether the current work belongs to a trace. */
  isTraced(): boolean
  /**
   * A request has ended. `route` is the pattern of its path, and `code` the error's code, or empty. `id` is only for the
   * trace.
   */
  requestEnded(request: {
    readonly id: string
    readonly trace: Trace | null
    readonly method: string
    readonly route: string
    readonly status: number
    readonly code: string
    readonly ms: number
  }): void
  /** A tool of the MCP server has returned. `code` is the code of its error, or `ok`. */
  toolEnded(tool: string, code: string): void
  /**
   * A statement or transaction of the database has ended. `statement` is the name of its first statement, or empty. Only
   * the traces record this.
   */
  databaseUsed(use: 'statement' | 'transaction', statement: string, outcome: 'ok' | 'failed', ms: number): void
  /** A payment was confirmed or has failed. `outcome` is `confirmed`, or the code of the failure. */
  paymentEnded(mode: string, kind: string, outcome: string): void
  /** A call to the enclave has ended. `call` is the function of `Enclave`. */
  enclaveCallEnded(call: string, outcome: string, ms: number): void
  /** A node of a chain was used. `node` is its position in the configuration. */
  nodeUsed(mode: string, node: number, outcome: NodeOutcome, ms: number): void
  /** The number of the newest block was read. */
  headRead(mode: string, head: bigint): void
  /** The process has the lease of a job, or no longer has it. */
  leaseChanged(job: string, isHeld: boolean): void
  /** A round of a job has ended, in the process that has the lease. */
  roundEnded(job: string, outcome: 'ok' | 'failed', ms: number, trace: Trace | null): void
  /** An attempt to send a webhook has ended. */
  webhookAttempted(outcome: string): void
  /** The proxy of `HTTPS_PROXY` was asked for a tunnel. */
  tunnelRequested(outcome: TunnelOutcome): void
  /** How many attempts to send webhooks are in progress in this process. */
  webhooksUnderWay(pool: 'prompt' | 'hanging', count: number): void
}

/** A request or a round of a job that is in progress, of which a trace is kept. */
export interface Trace {
  /** Runs work that belongs to the trace, with everything that it awaits. */
  run<Result>(work: () => Result): Result
}

/** What became of a request for a tunnel. `rejected`: the proxy responded with an error other than 407. */
export type TunnelOutcome = 'ok' | 'unreachable' | 'unauthorized' | 'rejected'

/**
 * How a node responded: it did; it asked us to wait; it does not have a block yet; it rejected the size of the request;
 * it ran the call and the contract rejected it; or it failed in another way.
 */
export type NodeOutcome = 'ok' | 'busy' | 'behind' | 'too_large' | 'reverted' | 'failed'

const ignore = (): void => undefined

/** For a process without metrics and traces. */
export const NOT_MEASURED: Measurements = {
  startTrace: () => null,
  isTraced: () => false,
  databaseUsed: ignore,
  requestEnded: ignore,
  toolEnded: ignore,
  paymentEnded: ignore,
  enclaveCallEnded: ignore,
  nodeUsed: ignore,
  headRead: ignore,
  leaseChanged: ignore,
  roundEnded: ignore,
  webhookAttempted: ignore,
  tunnelRequested: ignore,
  webhooksUnderWay: ignore,
}
