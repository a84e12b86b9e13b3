import { createPayer, makeKeys, type PayerOptions } from '../sandbox/payer-fixture.ts'
import type { JsonAnswer } from '../http-client.ts'
import { openWithdrawer } from '../sandbox/withdrawer-fixture.ts'
import { waitFor } from '../wait-for.ts'
import { isMpp, makeOrder, makeTransfer, ORDER_KINDS, type Buyer, type Order, type OrderKind } from './order.ts'
import type { RestoreFixture } from './restore-fixture.ts'

/** What the provider does while the clients of a group repeat their requests. */
export interface Provider {
  /** Whether the enclave still has the responses that it stores under idempotency keys. */
  readonly answers: 'kept' | 'gone'
  /** What the enclave does with a reference id that was used before. */
  readonly references: 'collide' | 'allow'
}

/** The kinds of payments with which an agent uses up a small 24-hour limit. */
export type CappedKind = 'transfer' | 'unkeyed' | 'purchase'

export interface GroupOptions extends Provider {
  readonly capped: readonly CappedKind[]
}

/** The payments of clients that repeat their requests at the same time. */
export interface Group extends Provider {
  /** The payments that the backup does not have. */
  readonly lost: readonly Order[]
  readonly capped: readonly CappedBuyer[]
  /** Payments with new keys. */
  readonly fresh: readonly Order[]
}

/** An agent with a small 24-hour limit: payments that the backup has and has not, and payments with new keys. */
export interface CappedBuyer {
  readonly buyer: Buyer
  readonly capMicro: bigint
  readonly kept: readonly Order[]
  readonly lost: readonly Order[]
  readonly fresh: readonly Order[]
}

/** An answer to a request after the restore. Null if there was no final answer in time. */
export interface Reply {
  readonly answer: JsonAnswer | null
  /** Whether the request was another one than the order, with the same idempotency key. */
  readonly isOther: boolean
}

export interface Scene {
  readonly fixture: RestoreFixture
  readonly buyers: readonly Buyer[]
  /** The payments that the backup has. */
  readonly kept: readonly Order[]
  readonly groups: readonly Group[]
  readonly replies: Map<Order, Reply[]>
}

export interface SceneOptions {
  readonly groups: readonly GroupOptions[]
  /** How many payments the backup has, and how many payments of each group it has not. */
  readonly kept: number
  readonly lost: number
  readonly buyers: number
}

/** Each order is requested once before the restore and at most four times after it. A key may pay 30 times a minute. */
const ORDERS_PER_KEY = 6
const CAPPED_KEYS = 4
const NO_CAP_USDC = '1000'
const ONE_USDC = { usdc: '1', micro: 1_000_000n } as const

/** Prepares the buyers, and everything that they will buy. Every kind of payment is among those that get lost. */
export async function prepareScene(fixture: RestoreFixture, options: SceneOptions): Promise<Scene> {
  const { buyers: count, groups, kept, lost } = options
  const keysCount = Math.ceil((kept + groups.length * lost) / count / ORDERS_PER_KEY)
  const buyers: Buyer[] = []
  while (buyers.length < count) {
    const buyer = await makeBuyer(fixture, keysCount, { dailyCapUsdc: NO_CAP_USDC })
    await installCode(fixture, buyer)
    buyers.push(buyer)
  }
  // The package mppx cannot check the signature of a wallet that has made a sponsored transfer.
  const mppBuyer = await makeBuyer(fixture, keysCount, { dailyCapUsdc: NO_CAP_USDC })
  const make = async (total: number): Promise<Order[]> => {
    const made: Order[] = []
    for (let index = 0; index < total; index += 1) {
      const [kind, buyer] = [ORDER_KINDS[index % ORDER_KINDS.length], buyers[index % count]]
      if (kind === undefined || buyer === undefined) throw new Error('there is nobody to pay')
      made.push(await makeOrder(fixture, isMpp({ kind }) ? mppBuyer : buyer, kind))
    }
    return made
  }
  const prepared: Group[] = []
  for (const { capped: kinds, ...provider } of groups) {
    const capped: CappedBuyer[] = []
    for (const kind of kinds) capped.push(await makeCapped(fixture, kind))
    const fresh = [await makeOrder(fixture, mppBuyer, 'mpp')]
    for (const buyer of buyers) {
      fresh.push(await makeOrder(fixture, buyer, 'transfer'), await makeOrder(fixture, buyer, 'x402_v2'))
    }
    prepared.push({ ...provider, lost: await make(lost), capped, fresh })
  }
  const cappedBuyers = prepared.flatMap(({ capped }) => capped.map(({ buyer }) => buyer))
  return {
    fixture,
    buyers: [...buyers, mppBuyer, ...cappedBuyers],
    kept: await make(kept),
    groups: prepared,
    replies: new Map(),
  }
}

async function makeBuyer(fixture: RestoreFixture, keysCount: number, options: PayerOptions): Promise<Buyer> {
  const payer = await createPayer(fixture, { plan: 'scale', ...options, grant: { x402: true } })
  const keys = [payer.key, ...(await makeKeys(fixture, payer, keysCount))]
  let taken = 0
  const takeKey = (): string => keys[(taken += 1) % keys.length] ?? payer.key
  return { ...payer, takeKey, withdrawer: await openWithdrawer(fixture, payer) }
}

/**
 * Makes the wallet's first transfer, which installs the wallet's code. A signature that was made for a purchase before
 * that is not valid afterwards.
 */
async function installCode(fixture: RestoreFixture, buyer: Buyer): Promise<void> {
  const first = await makeTransfer(fixture, buyer, { kind: 'transfer', amount: ONE_USDC })
  const answer = await first.send()
  if (answer.status !== 201) throw new Error(answer.text)
  await waitFor('the first transfer is mined', async () => (await fixture.chains.test.balanceOf(first.payee)) > 0n)
}

/**
 * Makes an agent that has spent a small part of its 24-hour limit according to the backup, and most of it in truth. Then
 * it wants to spend more than what is left.
 */
async function makeCapped(fixture: RestoreFixture, kind: CappedKind): Promise<CappedBuyer> {
  switch (kind) {
    case 'transfer':
      return await capTransfers(fixture, { lost: 'transfer', lostCount: 8 })
    case 'unkeyed':
      return await capTransfers(fixture, { lost: 'unkeyed', lostCount: 5 })
    case 'purchase':
      return await capPurchases(fixture)
  }
}

async function capTransfers(
  fixture: RestoreFixture,
  { lost, lostCount }: { lost: 'transfer' | 'unkeyed'; lostCount: number },
): Promise<CappedBuyer> {
  const buyer = await makeBuyer(fixture, CAPPED_KEYS, { dailyCapUsdc: '10', maxPerTxUsdc: '1' })
  const make = (total: number, kind: 'transfer' | 'unkeyed'): Promise<Order[]> =>
    Promise.all(Array.from({ length: total }, () => makeTransfer(fixture, buyer, { kind, amount: ONE_USDC })))
  return {
    buyer,
    capMicro: 10_000_000n,
    kept: await make(2, 'transfer'),
    lost: await make(lostCount, lost),
    fresh: await make(6, 'transfer'),
  }
}

async function capPurchases(fixture: RestoreFixture): Promise<CappedBuyer> {
  const buyer = await makeBuyer(fixture, CAPPED_KEYS, { dailyCapUsdc: '0.05', maxPerTxUsdc: '0.01' })
  const make = async (kinds: readonly OrderKind[]): Promise<Order[]> => {
    const made: Order[] = []
    for (const kind of kinds) made.push(await makeOrder(fixture, buyer, kind))
    return made
  }
  return {
    buyer,
    capMicro: 50_000n,
    kept: await make(['x402_v2']),
    lost: await make(['x402_v2', 'x402_v1', 'x402_v2_sign']),
    fresh: await make(['x402_v2', 'x402_v1', 'x402_v2']),
  }
}
