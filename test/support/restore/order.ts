import { randomUUID } from 'node:crypto'
import { fetchOnce } from '../../../sandbox/src/lib/fetch-once.ts'
import { call, type JsonAnswer } from '../http-client.ts'
import { makeAddress, type PayerFixture } from '../sandbox/payer-fixture.ts'
import { createResource, type SoldResource, type WireBehaviour } from '../sandbox/seller.ts'
import type { WithdrawerFixture } from '../sandbox/withdrawer-fixture.ts'
import type { RestoreFixture } from './restore-fixture.ts'

/**
 * The kinds of payments. For a kind that ends in `_sign`, the agent calls the seller itself. The first attempt of a
 * `second_attempt` fails at the enclave, so the transfer is sent under the enclave's key of the second attempt. The
 * seller of `mpp_raised` raises its price after it was paid.
 */
export const ORDER_KINDS = [
  'transfer',
  'x402_v2',
  'unkeyed',
  'second_attempt',
  'x402_v1',
  'x402_v2_sign',
  'mpp',
  'withdrawal',
  'mpp_sign',
  'mpp_raised',
] as const
export type OrderKind = (typeof ORDER_KINDS)[number]

/** Who pays. It has so many API keys that there is always one below its rate limit. */
export interface Buyer extends PayerFixture {
  readonly withdrawer: WithdrawerFixture
  readonly takeKey: () => string
}

/** A request, and the address that it pays. Nobody else pays this address. */
export interface PaymentRequest {
  readonly payee: string
  readonly send: () => Promise<JsonAnswer>
}

/** One payment that an agent or an owner wants to make. Whoever repeats it sends the same request. */
export interface Order extends PaymentRequest {
  readonly kind: OrderKind
  readonly buyer: Buyer
  readonly amountMicro: bigint
  /** Whether the request can be repeated without a second payment. */
  readonly isRepeatable: boolean
  /** Other requests with the same idempotency key. */
  readonly others: readonly PaymentRequest[]
}

/** The seller chooses the nonce of an MPP purchase, so it cannot be derived from the idempotency key. */
export function isMpp({ kind }: Pick<Order, 'kind'>): boolean {
  return kind.startsWith('mpp')
}

const TRANSFER = { usdc: '0.02', micro: 20_000n } as const
const PRICE = { usdc: '0.01', micro: 10_000n } as const
const OTHER_USDC = '0.005'
/** The seller's price after it was raised. */
const RAISED_USDC = '0.02'
/** The requests of a purchase: one without a payment, and one with it. */
const REQUESTS_PER_PURCHASE = 2

export async function makeOrder(fixture: RestoreFixture, buyer: Buyer, kind: OrderKind): Promise<Order> {
  switch (kind) {
    case 'transfer':
    case 'unkeyed':
    case 'second_attempt':
      return await makeTransfer(fixture, buyer, { kind, amount: TRANSFER })
    case 'withdrawal':
      return await makeWithdrawal(buyer)
    case 'x402_v2':
    case 'x402_v1':
    case 'mpp':
      return await makePurchase(fixture, buyer, { kind, behaviour: { protocol: kind } })
    case 'mpp_raised': {
      const raised = { faults: ['price_raised'], changes_after: REQUESTS_PER_PURCHASE } as const
      return await makePurchase(fixture, buyer, { kind, behaviour: { protocol: 'mpp', ...raised } })
    }
    case 'x402_v2_sign':
      return await makePurchase(fixture, buyer, {
        kind,
        behaviour: { protocol: 'x402_v2' },
        termsHeader: 'payment-required',
      })
    case 'mpp_sign':
      return await makePurchase(fixture, buyer, {
        kind,
        behaviour: { protocol: 'mpp' },
        termsHeader: 'www-authenticate',
      })
  }
}

/** Makes a transfer with an idempotency key, except for the kind `unkeyed`. */
export async function makeTransfer(
  fixture: RestoreFixture,
  buyer: Buyer,
  { kind, amount }: { kind: 'transfer' | 'unkeyed' | 'second_attempt'; amount: { usdc: string; micro: bigint } },
): Promise<Order> {
  const common = { kind, buyer, amountMicro: amount.micro }
  if (kind === 'unkeyed') {
    return { ...common, ...requestTransfer(fixture, buyer, amount.usdc, null), isRepeatable: false, others: [] }
  }
  const key = randomUUID()
  const request = requestTransfer(fixture, buyer, amount.usdc, key)
  const others = [
    requestTransfer(fixture, buyer, OTHER_USDC, key),
    await requestPurchase(fixture, buyer, { key, behaviour: { protocol: 'x402_v2' } }),
  ]
  return { ...common, ...request, isRepeatable: true, others }
}

function requestTransfer(
  { baseUrl }: RestoreFixture,
  buyer: Buyer,
  amountUsdc: string,
  key: string | null,
): PaymentRequest {
  const { agentId, wallet } = buyer
  const to = makeAddress()
  const body = {
    agent_id: agentId,
    wallet,
    to,
    amount_usdc: amountUsdc,
    ...(key === null ? {} : { idempotency_key: key }),
  }
  return {
    payee: to.toLowerCase(),
    send: () => call(baseUrl, 'POST', '/v1/payments', { key: buyer.takeKey(), body }),
  }
}

/** Makes a withdrawal whose owner already has the request to sign. */
async function makeWithdrawal(buyer: Buyer): Promise<Order> {
  const payee = makeAddress()
  const issued = await buyer.withdrawer.issue({ to: payee, amount_usdc: TRANSFER.usdc })
  const send = async (): Promise<JsonAnswer> => {
    const answer = await buyer.withdrawer.sign(issued)
    return { ...answer, body: JSON.parse(answer.text) as JsonAnswer['body'] }
  }
  const common = { kind: 'withdrawal', buyer, amountMicro: TRANSFER.micro } as const
  return { ...common, payee: payee.toLowerCase(), send, isRepeatable: true, others: [] }
}

interface Purchase {
  readonly behaviour: WireBehaviour
  /** The header with the seller's terms, if the agent calls the seller itself. */
  readonly termsHeader?: string
}

async function makePurchase(
  fixture: RestoreFixture,
  buyer: Buyer,
  { kind, ...purchase }: Purchase & { readonly kind: OrderKind },
): Promise<Order> {
  const key = randomUUID()
  const { protocol } = purchase.behaviour
  // The nonce of an MPP purchase is not derived from its key. So if the key comes back with another request, nothing can
  // tell that it was used (D96).
  const others =
    protocol === 'mpp'
      ? []
      : [
          await requestPurchase(fixture, buyer, {
            ...purchase,
            key,
            behaviour: protocol === undefined ? {} : { protocol },
          }),
          requestTransfer(fixture, buyer, OTHER_USDC, key),
        ]
  const request = await requestPurchase(fixture, buyer, { ...purchase, key })
  return { kind, buyer, amountMicro: PRICE.micro, ...request, isRepeatable: true, others }
}

async function requestPurchase(
  fixture: RestoreFixture,
  buyer: Buyer,
  { key, behaviour, termsHeader }: Purchase & { readonly key: string },
): Promise<PaymentRequest> {
  const { agentId, wallet } = buyer
  const terms = { agent_id: agentId, wallet, max_amount_usdc: RAISED_USDC, idempotency_key: key }
  const resource = await createResource(fixture, { price_usdc: PRICE.usdc, ...behaviour })
  const post = (path: string, body: object): Promise<JsonAnswer> =>
    call(fixture.baseUrl, 'POST', path, { key: buyer.takeKey(), body: { ...body, ...terms } })
  const payee = resource.payTo.toLowerCase()
  if (termsHeader === undefined) return { payee, send: () => post('/v1/x402/pay', { url: resource.url }) }
  let asked: string | null = null
  const send = async (): Promise<JsonAnswer> => {
    asked ??= (await fetchOnce(resource.url)).headers.get(termsHeader)
    return await deliver(resource, await post('/v1/x402/sign', { payment_required: asked, resource_url: resource.url }))
  }
  return { payee, send }
}

/** Takes a signed header to the seller. The seller may refuse it, for example because it was used before. */
async function deliver({ url }: SoldResource, answer: JsonAnswer): Promise<JsonAnswer> {
  const { header_name: name, header_value: value } = JSON.parse(answer.text) as Record<string, string | null>
  if (!name || !value) return answer
  const { ok } = await fetchOnce(url, { headers: { [name]: value } })
  return { ...answer, text: JSON.stringify({ ...answer.body, delivery: ok ? 'delivered' : 'failed' }) }
}
