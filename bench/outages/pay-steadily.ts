import { setTimeout as delay } from 'node:timers/promises'
import { send } from '../../test/support/http-client.ts'

/** One payment that an agent wants to make. */
export interface Order {
  readonly isCapped: boolean
  /** No two orders have the same amount, because the service cannot tell their transfers apart if an answer is lost. */
  readonly amountMicro: bigint
  /** The status of each response, or the code of the connection's error. */
  readonly tries: string[]
  /** The codes of the errors, for a response with one. */
  readonly codes: Set<string>
  readonly startedAt: number
  endedAt: number
  /** `open` if the agent gave up without knowing the outcome. */
  end: 'paid' | 'rejected' | 'open'
}

export interface Load {
  /** The servers, of which each try uses the next one. */
  readonly bases: () => readonly string[]
  readonly keys: readonly string[]
  /** Every `CAPPED_EVERY`th order is for the capped payer. */
  readonly bodyOf: (isCapped: boolean) => object
  /** The number of earlier orders, whose amounts are not used again. */
  readonly earlier: number
  readonly seconds: number
}

/** The amount of the first order, in micro-USDC. Each later one is larger by one. */
const AMOUNT_MICRO = 10_000n
const RATE = 10
const CAPPED_EVERY = 5
/** How long an agent repeats an order before it gives up. */
const PATIENCE_MS = 90_000
const RETRY_SECONDS = 1

/**
 * Makes ten payments a second. Each has an idempotency key of its own, and is repeated as `Retry-After` says while the
 * response does not show the outcome, each time at the next server and with the next API key, because a key may make
 * only 30 payment requests a minute.
 */
export async function paySteadily({ bases, keys, bodyOf, earlier, seconds }: Load): Promise<Order[]> {
  const name = Math.random().toString(36).slice(2)
  const startedAt = performance.now()
  const orders: Order[] = []
  const paying: Promise<void>[] = []
  let sent = 0
  while (performance.now() - startedAt < seconds * 1_000) {
    const order: Order = {
      isCapped: orders.length % CAPPED_EVERY === CAPPED_EVERY - 1,
      amountMicro: AMOUNT_MICRO + BigInt(earlier + orders.length),
      ...{
        tries: [],
        codes: new Set<string>(),
        startedAt: performance.now(),
        endedAt: 0,
        end: 'open',
      },
    }
    orders.push(order)
    const amount = { amount_usdc: `0.${String(order.amountMicro).padStart(6, '0')}` }
    paying.push(pay(order, { ...bodyOf(order.isCapped), ...amount, idempotency_key: `${name}-${orders.length}` }))
    await delay(Math.max(0, startedAt + (orders.length * 1_000) / RATE - performance.now()))
  }
  await Promise.all(paying)
  return orders

  async function pay(order: Order, body: object): Promise<void> {
    while (order.end === 'open' && performance.now() - order.startedAt < PATIENCE_MS) {
      sent += 1
      const servers = bases()
      const [base = '', key = ''] = [servers[sent % servers.length], keys[sent % keys.length]]
      const waitSeconds = await attempt(order, base, key, body)
      order.endedAt = performance.now()
      if (order.end === 'open') await delay(waitSeconds * 1_000)
    }
  }
}

/** Sends an order once. Returns how many seconds later it may be sent again. */
async function attempt(order: Order, base: string, key: string, body: object): Promise<number> {
  try {
    const { status, headers, text } = await send(base, { path: '/v1/payments', key, body })
    order.tries.push(String(status))
    const answer = JSON.parse(text) as { error?: { code?: string; type: string } }
    if (status === 201) order.end = 'paid'
    else if (status < 500 && status !== 429) order.end = 'rejected'
    if (answer.error !== undefined) order.codes.add(answer.error.code ?? answer.error.type)
    return Number(headers['retry-after'] ?? RETRY_SECONDS)
  } catch (error) {
    order.tries.push(String((error as { code?: string }).code ?? error))
    return RETRY_SECONDS
  }
}
