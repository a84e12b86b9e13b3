import { call } from '../http-client.ts'
import type { ChainTransfer } from '../sandbox/usdc-chain.ts'
import { isMpp, type Buyer, type Order } from './order.ts'
import type { CappedBuyer, Scene } from './scene.ts'

export interface RestoreReport {
  readonly counts: {
    readonly lost: number
    readonly transfers: number
    /** Transfers beyond the first one of an order. */
    readonly second_transfers: number
    /** Transfers to another payee than the one that was paid before, under the same key. */
    readonly paid_others: number
    /** What left the wallets beyond the 24-hour limits, in micro-USDC. */
    readonly over_cap_micro: number
  }
  /** One line for each thing that happened but must never happen. */
  readonly violations: readonly string[]
}

type Check = Scene & {
  /** The transfers by their payee, in lower case. */
  readonly transfers: ReadonlyMap<string, readonly ChainTransfer[]>
  readonly counts: { -readonly [Name in keyof RestoreReport['counts']]: number }
  readonly violations: string[]
}

const MICRO = 1_000_000n

/** Compares the chain with what the clients were told, and with the service's records. */
export async function checkRestore(scene: Scene, transfers: readonly ChainTransfer[]): Promise<RestoreReport> {
  const { groups } = scene
  const capped = groups.flatMap((group) => group.capped)
  const orders = {
    kept: [...scene.kept, ...capped.flatMap((one) => one.kept)],
    lost: [...groups.flatMap((group) => group.lost), ...capped.flatMap((one) => one.lost)],
    new: groups.flatMap((group) => group.fresh),
  }
  const none = { second_transfers: 0, paid_others: 0, over_cap_micro: 0 }
  const check: Check = {
    ...scene,
    transfers: Map.groupBy(transfers, ({ to }) => to),
    counts: { lost: orders.lost.length, transfers: transfers.length, ...none },
    violations: [],
  }
  for (const [name, some] of Object.entries(orders)) {
    for (const order of some) await checkOrder(check, `${name} ${order.kind}`, order)
  }
  for (const one of capped) checkCap(check, one)
  for (const buyer of scene.buyers) await checkRemaining(check, buyer, [...orders.kept, ...orders.lost])
  return check
}

/** Checks that an order was paid once, and that every answer names this payment and its transaction. */
async function checkOrder(check: Check, name: string, order: Order): Promise<void> {
  const { transfers, violations, counts } = check
  const paid = transfers.get(order.payee) ?? []
  const others = order.others.flatMap(({ payee }) => transfers.get(payee) ?? [])
  if (paid.length === 0) violations.push(`${name}: not paid`)
  if (paid.length > 1) violations.push(`${name}: paid ${paid.length} times`)
  if (paid.some(({ amountMicro }) => amountMicro !== order.amountMicro)) violations.push(`${name}: another amount`)
  if (others.length > 0) violations.push(`${name}: another payee was paid under its key`)
  counts.second_transfers += Math.max(paid.length - 1, 0)
  counts.paid_others += others.length
  const ids = checkReplies(check, name, { order, txHash: paid[0]?.txHash })
  for (const id of ids) await checkRecord(check, name, { order, id, txHash: paid[0]?.txHash })
}

/** Returns the ids of the payments that the answers name. */
function checkReplies(
  { replies, violations }: Check,
  name: string,
  { order, txHash }: { order: Order; txHash: string | undefined },
): ReadonlySet<string> {
  const ids = new Set<string>()
  const answers = replies.get(order) ?? []
  for (const { answer, isOther } of answers) {
    if (answer?.status === 503 && isMpp(order)) continue
    if (answer === null) violations.push(`${name}: no final answer`)
    else if (answer.status >= 300) {
      if (!isOther) violations.push(`${name}: refused with ${answer.status} ${answer.body.error.code}`)
    } else {
      const { id, tx_hash: named } = answer.body.payment
      ids.add(id)
      if (named !== null && named !== txHash) violations.push(`${name}: an answer names the transaction ${named}`)
      if (isOther && answer.headers['idempotent-mismatch'] === undefined) {
        violations.push(`${name}: the answer to another request does not say that it differs`)
      }
    }
  }
  if (answers.length > 0 && ids.size === 0) violations.push(`${name}: no answer names its payment`)
  if (ids.size > 1) violations.push(`${name}: its answers name ${ids.size} payments`)
  return ids
}

async function checkRecord(
  { fixture, violations }: Check,
  name: string,
  { order, id, txHash }: { order: Order; id: string; txHash: string | undefined },
): Promise<void> {
  const [row] = await fixture.query('select status, tx_hash, lower(to_address) as payee from payments where id = $1', [
    id,
  ])
  const recorded = [row?.['status'], row?.['tx_hash'], row?.['payee']].join(' ')
  const expected = ['confirmed', txHash, order.payee].join(' ')
  if (recorded !== expected) violations.push(`${name}: recorded as ${recorded}, and not as ${expected}`)
}

/** Checks that a small 24-hour limit was kept, and that what is left of it could be spent. */
function checkCap({ transfers, violations, counts, replies }: Check, one: CappedBuyer): void {
  const { capMicro, kept, lost, fresh } = one
  const payees = [...kept, ...lost, ...fresh].flatMap((order) => [order, ...order.others]).map(({ payee }) => payee)
  const spent = sum(payees.flatMap((payee) => transfers.get(payee) ?? []))
  const [first] = lost
  if (first === undefined) throw new Error('nothing is lost')
  const name = `limit of ${capMicro}, ${first.kind}`
  if (spent > capMicro) violations.push(`${name}: ${spent} left the wallet`)
  counts.over_cap_micro += Math.max(Number(spent - capMicro), 0)
  const allowed = Number(capMicro / first.amountMicro) - kept.length - lost.length
  const made = fresh.filter(({ payee }) => transfers.has(payee)).length
  if (made !== allowed) violations.push(`${name}: ${made} new payments were made, and ${allowed} were allowed`)
  for (const { answer } of fresh.flatMap((order) => replies.get(order) ?? [])) {
    const isPaid = answer !== null && answer.status < 300
    if (!isPaid && answer?.body.error.code !== 'daily_cap_exceeded') {
      violations.push(`${name}: a new payment got ${answer?.text ?? 'no final answer'}`)
    }
  }
}

/**
 * Checks that everything that left a wallet counts towards its agent's limit. A withdrawal does not count. However, a
 * withdrawal that the backup does not have counts, because nothing shows who made it.
 */
async function checkRemaining(
  { fixture, transfers, violations }: Check,
  { agentId, wallet, takeKey }: Buyer,
  orders: readonly Order[],
): Promise<void> {
  const withdrawn = new Set(orders.flatMap(({ kind, payee }) => (kind === 'withdrawal' ? payee : [])))
  const all = [...transfers.values()].flat().filter(({ from }) => from === wallet.toLowerCase())
  const [least, most] = [sum(all.filter(({ to }) => !withdrawn.has(to))), sum(all)]
  const answer = await call(fixture.baseUrl, 'GET', `/v1/agents/${agentId}`, { key: takeKey() })
  const { daily_cap_usdc: cap, remaining_24h_usdc: remaining } = answer.body.agent.wallets[0] ?? {}
  const counted = toMicro(cap) - toMicro(remaining)
  if (counted < least || counted > most) {
    violations.push(`${agentId}: ${counted} count towards its limit, and ${least} to ${most} were paid`)
  }
}

function sum(transfers: readonly ChainTransfer[]): bigint {
  return transfers.reduce((total, { amountMicro }) => total + amountMicro, 0n)
}

function toMicro(text: unknown): bigint {
  const [whole = '0', fraction = ''] = String(text).split('.')
  return BigInt(whole) * MICRO + BigInt(fraction.padEnd(6, '0'))
}
