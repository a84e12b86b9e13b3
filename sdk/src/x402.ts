import { createIdempotencyKey } from './idempotency-key.ts'
import { withMembers, withPaymentOf } from './read-body.ts'
import { checkMatch, createResult, type Result } from './result.ts'
import { send, type CallOptions, type Connection } from './send.ts'
import type { CheckPriceParams, PaidAnswer, PayParams, PriceCheck, SignedHeader, SignParams } from './types.ts'

/** The service asks the seller twice, and waits for the payment. It responds within two minutes. */
const PAY_TIMEOUT_MS = 150_000
const PAY_TOTAL_TIMEOUT_MS = 330_000

/** Purchases of HTTP resources that ask for a payment (x402 version 1 and 2, MPP). Use `bursar.x402`. */
export class X402 {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Asks a resource for its price (decimal USDC), and pays nothing. With `agent_id` and `wallet`, the result also says
   * whether the limits would allow the purchase now. A method other than GET and HEAD needs the scope `x402:pay`.
   *
   * @example
   * ```ts
   * const { price_usdc } = await bursar.x402.check({ url: 'https://api.example.com/report' })
   * log(price_usdc ?? 'costs nothing')
   * ```
   */
  check(params: CheckPriceParams, options?: CallOptions): Result<PriceCheck> {
    const read = withMembers<PriceCheck>({ options: 'array' })
    const call = { method: 'POST', path: '/v1/x402/check', body: params, read } as const
    return createResult(send(this.#connection, call, options), (check) => check)
  }

  /**
   * Fetches a resource, and pays what it asks for, if that is at most `max_amount_usdc` and the limits allow it. One
   * call pays at most once. With the same `idempotency_key`, the response can be fetched again for 24 hours.
   *
   * `delivery` says whether the seller delivered; `payment.status` says whether the money has moved. Neither can be
   * inferred from the other. A resource that asks for no payment is returned with `payment` null. Such a resource can
   * be requested more than once, if a response of the service is lost.
   *
   * Errors: as for `payments.create`; also `PaymentRefusedError` with the code `price_too_high`, and `BadRequestError`
   * with the code `payment_option_unsupported` if the seller offers no way to pay that the service supports.
   *
   * @example
   * ```ts
   * const { response, payment } = await bursar.x402.pay({
   *   url: 'https://api.example.com/report',
   *   agent_id: 'shopper',
   *   wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
   *   max_amount_usdc: '0.05',
   *   idempotency_key: 'report-2041',
   * })
   * log(response?.body, payment?.amount_usdc)
   * ```
   */
  pay(params: PayParams, options?: CallOptions): Result<PaidAnswer> {
    const idempotencyKey = params.idempotency_key ?? createIdempotencyKey()
    const call = {
      method: 'POST',
      path: '/v1/x402/pay',
      body: { ...params, idempotency_key: idempotencyKey },
      idempotencyKey,
      read: withPaymentOf<PaidAnswer>(idempotencyKey, { isFree: true }),
      timeoutMs: PAY_TIMEOUT_MS,
      totalTimeoutMs: PAY_TOTAL_TIMEOUT_MS,
    } as const
    const sent = send(this.#connection, call, options)
    return createResult(sent.then(checkMatch), (answer) => answer)
  }

  /**
   * Signs the payment that a resource asks for, and returns the payment header, for an agent that fetches the
   * resource itself. Send this header to that resource only: anyone who has it can take the money, until it expires.
   *
   * Errors: as for `pay`.
   *
   * @example
   * ```ts
   * const url = 'https://api.example.com/report'
   * const priced = await fetch(url)
   * const { header_name, header_value } = await bursar.x402.sign({
   *   payment_required: priced.headers.get('payment-required') ?? (await priced.json()),
   *   resource_url: url,
   *   agent_id: 'shopper',
   *   wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
   *   max_amount_usdc: '0.05',
   * })
   * if (header_name !== null && header_value !== null) await fetch(url, { headers: { [header_name]: header_value } })
   * ```
   */
  sign(params: SignParams, options?: CallOptions): Result<SignedHeader> {
    const idempotencyKey = params.idempotency_key ?? createIdempotencyKey()
    const read = withPaymentOf<SignedHeader>(idempotencyKey, { isFree: false })
    const body = { ...params, idempotency_key: idempotencyKey }
    const sent = send(this.#connection, { method: 'POST', path: '/v1/x402/sign', body, idempotencyKey, read }, options)
    return createResult(sent.then(checkMatch), (answer) => answer)
  }
}
