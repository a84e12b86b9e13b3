import { abortFailure, makeAttempt, type Failure, type Success, type WireRequest } from './attempt.ts'
import { ConnectionError, type ErrorContext } from './errors.ts'
import type { Runtime } from './runtime.ts'

/** How a call behaves when the service does not respond at once. All members have defaults. */
export interface CallOptions {
  /** Ends the call with an `AbortedError`. A payment that was already sent may still happen. */
  readonly signal?: AbortSignal | undefined
  /** The time for one attempt, in milliseconds. The default is 60,000, and 150,000 for purchases. */
  readonly timeoutMs?: number
  /**
   * The time for all attempts with the waits between them, in milliseconds. The default is 180,000, and 330,000 for
   * purchases.
   */
  readonly totalTimeoutMs?: number
  /** How often a failed request is retried at most. The default is 5. */
  readonly retriesMax?: number
}

/**
 * Returns an access token. `isRejected` is true if the service has rejected the last one, so that it must be refreshed.
 */
export type GetToken = (options: { readonly isRejected: boolean }) => string | Promise<string>

export interface Connection {
  readonly baseUrl: string
  readonly getToken: GetToken
  /** Whether another token can be had if the service rejects one. */
  readonly isRefreshable: boolean
  readonly runtime: Runtime
}

/** A call of one operation. Every call may be sent again: if it pays, it has an idempotency key. */
export interface Call<T> {
  readonly method: 'GET' | 'POST'
  /** The path after the base address, with its query. */
  readonly path: string
  readonly body?: object
  /** The idempotency key of a call that pays. The body contains it too. */
  readonly idempotencyKey?: string
  /** Returns what the operation returns, or null if the body is something else. `text` is the body as it arrived. */
  read(body: unknown, text: string): T | null
  readonly timeoutMs?: number
  readonly totalTimeoutMs?: number
}

const TIMEOUT_MS = 60_000
const TOTAL_TIMEOUT_MS = 180_000
const RETRIES_MAX = 5
const FIRST_DELAY_MS = 500
const DELAY_MAX_MS = 8_000
/** The part of a delay that is random, so that many clients do not retry at the same moment. */
const JITTER = 0.25
const MS_PER_SECOND = 1_000
const UNAUTHENTICATED = 401

/** What is known after the attempts so far. */
interface Progress {
  attempts: number
  mayHavePaid: boolean
  requestId: string | null
  isRejected: boolean
  hasRefreshed: boolean
}

/** A response, with what `withResponse` returns about the call. */
export interface Sent<T> extends Success<T> {
  readonly idempotencyKey: string | null
  readonly attempts: number
}

/**
 * Sends a call until it succeeds, fails in a way that a retry does not change, or has used up its attempts or its time.
 * Errors: every `BursarError`.
 */
export async function send<T>(connection: Connection, call: Call<T>, options: CallOptions = {}): Promise<Sent<T>> {
  const { runtime } = connection
  const totalMs = options.totalTimeoutMs ?? call.totalTimeoutMs ?? TOTAL_TIMEOUT_MS
  const endsAt = runtime.now() + totalMs
  const progress: Progress = {
    attempts: 0,
    mayHavePaid: false,
    requestId: null,
    isRejected: false,
    hasRefreshed: false,
  }
  const context = (): ErrorContext => contextOf(call, progress)
  for (let retries = 0; ; retries += 1) {
    if (options.signal?.aborted === true) throw abortFailure(options.signal).createError(context())
    const result = await attempt(connection, call, { options, endsAt, progress })
    if (result.kind === 'success') {
      return { ...result, attempts: progress.attempts, idempotencyKey: call.idempotencyKey ?? null }
    }
    const delayMs = decideDelay(connection, result, { options, retries, progress })
    if (delayMs === null || runtime.now() + delayMs >= endsAt) throw result.createError(context())
    await runtime.sleep(delayMs, options.signal)
  }
}

/** Gets the credential and sends the request once. Records in `progress` whether this attempt may have paid. */
async function attempt<T>(
  connection: Connection,
  call: Call<T>,
  { options, endsAt, progress }: { options: CallOptions; endsAt: number; progress: Progress },
): Promise<Success<T> | Failure> {
  const { signal } = options
  const timeLeftMs = (): number => {
    const timeoutMs = options.timeoutMs ?? call.timeoutMs ?? TIMEOUT_MS
    return Math.max(1, Math.min(timeoutMs, endsAt - connection.runtime.now()))
  }
  let credential: string
  try {
    credential = await readToken(connection, { isRejected: progress.isRejected, timeoutMs: timeLeftMs(), signal })
  } catch (cause) {
    return signal?.aborted === true ? abortFailure(signal) : tokenFailure(cause)
  }
  if (signal?.aborted === true) return abortFailure(signal)
  progress.attempts += 1
  const request: WireRequest = {
    url: connection.baseUrl + call.path,
    method: call.method,
    body: call.body === undefined ? null : JSON.stringify(call.body),
    credential,
    timeoutMs: timeLeftMs(),
    signal,
  }
  const result = await makeAttempt(connection.runtime, request, (body, text) => call.read(body, text))
  if (result.kind === 'failure') {
    progress.mayHavePaid ||= result.mayHavePaid
    progress.requestId = result.requestId
  }
  return result
}

/** Calls the caller's `getToken`. It has the same time limit as a response of the service. */
async function readToken(
  { getToken, runtime }: Connection,
  { isRejected, timeoutMs, signal }: { isRejected: boolean; timeoutMs: number; signal: AbortSignal | undefined },
): Promise<string> {
  let stop = (): void => undefined
  const end = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(new Error('The call was aborted.'))
    const stopTimer = runtime.startTimer(timeoutMs, () => reject(new Error(`It took more than ${timeoutMs} ms.`)))
    signal?.addEventListener('abort', onAbort)
    stop = () => {
      stopTimer()
      signal?.removeEventListener('abort', onAbort)
    }
  })
  try {
    const token = await Promise.race([getToken({ isRejected }), end])
    if (!isCredential(token)) throw new TypeError('It returned no token.')
    return token
  } finally {
    stop()
  }
}

/** Returns how long to wait before the next attempt, or null if there is none. */
function decideDelay(
  { isRefreshable, runtime }: Connection,
  failure: Failure,
  { options, retries, progress }: { options: CallOptions; retries: number; progress: Progress },
): number | null {
  if (retries >= (options.retriesMax ?? RETRIES_MAX)) return null
  progress.isRejected = failure.status === UNAUTHENTICATED && isRefreshable && !progress.hasRefreshed
  if (progress.isRejected) {
    progress.hasRefreshed = true
    return 0
  }
  if (!failure.isRetryable) return null
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** retries, DELAY_MAX_MS)
  const jitterMs = backoffMs * JITTER * runtime.random()
  if (failure.retryAfterSeconds !== null) return failure.retryAfterSeconds * MS_PER_SECOND + jitterMs
  return backoffMs - jitterMs
}

function contextOf<T>({ idempotencyKey }: Call<T>, { attempts, mayHavePaid, requestId }: Progress): ErrorContext {
  if (idempotencyKey === undefined) return { requestId, attempts, idempotencyKey: null, outcome: null }
  return { requestId, attempts, idempotencyKey, outcome: mayHavePaid ? 'unknown' : 'not_paid' }
}

/** Returns whether a value can be sent as a credential. If it cannot, `fetch` fails as if the connection were lost. */
export function isCredential(value: string): boolean {
  return /^[!-~]+$/.test(value)
}

function tokenFailure(cause: unknown): Failure {
  return {
    kind: 'failure',
    status: null,
    requestId: null,
    isRetryable: true,
    retryAfterSeconds: null,
    mayHavePaid: false,
    createError: (context) => new ConnectionError('getToken failed, so this attempt was not sent.', context, { cause }),
  }
}
