import { TimeoutError } from './errors.ts'
import { createIdempotencyKey } from './idempotency-key.ts'
import { asEvidence, withMembers, withPaymentOf } from './read-body.ts'
import { checkMatch, createResult, type Result } from './result.ts'
import { send, type CallOptions, type Connection } from './send.ts'
import type { CreatePaymentParams, Payment, PaymentPreview, PaymentWithPurchase } from './types.ts'

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** How long to wait for the outcome, in milliseconds. The default is 120,000. */
  readonly timeoutMs?: number
}

/** The longest time for which the service holds a request that waits. */
const SERVICE_WAIT_MAX_SECONDS = 45
/** The time that a request may take in addition to its wait. */
const WAIT_MARGIN_MS = 15_000
const WAIT_TIMEOUT_MS = 120_000
/** If very many requests wait, the service may respond without a wait. So requests start at least this far apart. */
const POLL_INTERVAL_MS = 2_000
const MS_PER_SECOND = 1_000

/** Payments in USDC from a wallet, within the limits of the agent's grant. Use `bursar.payments`. */
export class Payments {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Pays `amount_usdc` (decimal USDC, at most 6 decimal places) from `wallet` to `to`. Returns as soon as the transfer
   * is signed, mostly with the status `pending`. The chain confirms it seconds later: see `wait`. A payment that the
   * enclave rejects is returned with the status `failed`.
   *
   * One call pays at most once, however often it is retried: its idempotency key is made before the first attempt. To
   * stay safe when your own process restarts, pass a key that you have stored, or that belongs to the invoice.
   *
   * Errors: `PaymentRefusedError` if a limit rejects the payment, `IdempotencyMismatchError` if the key belongs to
   * another payment, and every other `BursarError`. `outcome` says whether the payment may exist.
   *
   * @example
   * ```ts
   * const payment = await bursar.payments.create({
   *   agent_id: 'shopper',
   *   wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
   *   to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
   *   amount_usdc: '1.25',
   *   idempotency_key: 'invoice-2041',
   * })
   * log(payment.id, payment.status)
   * ```
   */
  create(params: CreatePaymentParams, options?: CallOptions): Result<Payment> {
    const idempotencyKey = params.idempotency_key ?? createIdempotencyKey()
    const read = withPaymentOf<{ payment: Payment }>(idempotencyKey, { isFree: false })
    const body = { ...params, idempotency_key: idempotencyKey }
    const sent = send(this.#connection, { method: 'POST', path: '/v1/payments', body, idempotencyKey, read }, options)
    return createResult(sent.then(checkMatch), ({ payment }) => payment)
  }

  /**
   * Runs every check of `create` without paying. A refusal is returned as a result, not thrown as an error.
   *
   * @example
   * ```ts
   * const preview = await bursar.payments.preview(params)
   * log(preview.allowed ? 'allowed' : preview.error.code)
   * ```
   */
  preview(params: CreatePaymentParams, options?: CallOptions): Result<PaymentPreview> {
    const read = withMembers<{ preview: PaymentPreview }>({ preview: 'object' })
    const call = { method: 'POST', path: '/v1/payments/preview', body: params, read } as const
    return createResult(send(this.#connection, call, options), ({ preview }) => preview)
  }

  /**
   * Returns the payment as it stands now. The service reads the chain first.
   *
   * Errors: `NotFoundError` if there is no such payment in this workspace and mode.
   *
   * @example
   * ```ts
   * const payment = await bursar.payments.get('pay_01JZ3Q8V6T9X2M4N5P7R8S9T0V')
   * log(payment.status, payment.tx_hash)
   * ```
   */
  get(id: string, options?: CallOptions): Result<Payment> {
    return createResult(this.#read(id, 0, options), ({ payment }) => payment)
  }

  /**
   * Returns what the payment bought, if its kind is `x402`, and otherwise null.
   *
   * @example
   * ```ts
   * const purchase = await bursar.payments.getPurchase('pay_01JZ3Q8V6T9X2M4N5P7R8S9T0V')
   * log(purchase?.host, purchase?.delivery)
   * ```
   */
  getPurchase(id: string, options?: CallOptions): Result<PaymentWithPurchase['purchase'] | null> {
    return createResult(this.#read(id, 0, options), ({ purchase }) => purchase ?? null)
  }

  /**
   * Returns the file that proves who allowed the payment, as the exact text that the service made. Store it unchanged:
   * a verifier rejects a file whose JSON was written again.
   *
   * Errors: `ConflictError` with the code `evidence_not_ready` while the payment is pending, and for about seven minutes
   * after the owner has signed; with `evidence_unavailable` if there will be no evidence. `PermissionDeniedError` if the
   * credential belongs to another agent. `NotFoundError` if there is no such payment in this workspace and mode.
   *
   * @example
   * ```ts
   * const evidence = await bursar.payments.evidence('pay_01JZ3Q8V6T9X2M4N5P7R8S9T0V')
   * await store.set('evidence.json', evidence)
   * ```
   */
  evidence(id: string, options?: CallOptions): Result<string> {
    const path = `/v1/payments/${encodeURIComponent(id)}/evidence`
    return createResult(send(this.#connection, { method: 'GET', path, read: asEvidence }, options), (text) => text)
  }

  /**
   * Waits until the payment is `confirmed` or `failed`, and returns it.
   *
   * Errors: `TimeoutError` if it is still pending after `timeoutMs` milliseconds. It may still be confirmed later.
   *
   * @example
   * ```ts
   * const { id } = await bursar.payments.create(params)
   * const payment = await bursar.payments.wait(id)
   * log(payment.status === 'confirmed' ? `paid in ${payment.tx_hash}` : `failed: ${payment.failure_code}`)
   * ```
   */
  async wait(id: string, options: WaitOptions = {}): Promise<Payment> {
    const { runtime } = this.#connection
    const waitMs = options.timeoutMs ?? WAIT_TIMEOUT_MS
    const endsAt = runtime.now() + waitMs
    for (;;) {
      const startedAt = runtime.now()
      const leftMs = Math.max(0, endsAt - startedAt)
      const seconds = Math.min(SERVICE_WAIT_MAX_SECONDS, Math.floor(leftMs / MS_PER_SECOND))
      const margins = { timeoutMs: seconds * MS_PER_SECOND + WAIT_MARGIN_MS, totalTimeoutMs: leftMs + WAIT_MARGIN_MS }
      const answer = await this.#read(id, seconds, { ...options, ...margins })
      const { payment } = answer.data
      if (payment.status !== 'pending') return payment
      if (runtime.now() >= endsAt) {
        const context = { requestId: answer.headers.get('request-id'), attempts: answer.attempts }
        const message = `The payment ${id} is still pending after ${waitMs} ms.`
        throw new TimeoutError(message, { ...context, idempotencyKey: null, outcome: null })
      }
      const restMs = Math.min(startedAt + POLL_INTERVAL_MS, endsAt) - runtime.now()
      if (restMs > 0) await runtime.sleep(restMs, options.signal)
    }
  }

  #read(id: string, waitSeconds: number, options: CallOptions | undefined) {
    const query = waitSeconds === 0 ? '' : `?wait=${waitSeconds}`
    const path = `/v1/payments/${encodeURIComponent(id)}${query}`
    const read = withMembers<PaymentWithPurchase>({ payment: 'object' })
    return send(this.#connection, { method: 'GET', path, read }, options)
  }
}
