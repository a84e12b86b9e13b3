import { randomBytes } from 'node:crypto'
import type { Context } from '../../../server/src/domain/context.ts'
import type {
  Payment,
  PaymentAuthorization,
  PurchasePayment,
  TransferPayment,
} from '../../../server/src/domain/payments/payment.ts'
import { markAccepted } from '../../../server/src/domain/payments/acceptances-store.ts'
import { insertPayments, markConfirmed, markFailed } from '../../../server/src/domain/payments/payments-store.ts'
import { monthOf } from '../../../server/src/domain/plans/plan.ts'
import { createId } from '../../../server/src/values/ids.ts'
import { microUsdc, parseAmount } from '../../../server/src/values/money.ts'
import { RECIPIENT, type Seed } from './seed.ts'
import { readRows } from '../database/read-rows.ts'

const WIDE = microUsdc(10n ** 18n)
const SEND_WINDOW_MS = 2_000

type Shared = Omit<TransferPayment, 'kind' | 'agentId' | 'grantId' | 'authorization'>
type Kind = Omit<PurchasePayment, keyof Shared | 'kind'> & { readonly kind: Payment['kind'] }
type PaymentChanges = Partial<Omit<Shared, 'createdAt'> & Kind>

function toKind(shared: Shared, { kind, agentId, grantId, authorization }: Kind): Payment {
  switch (kind) {
    case 'transfer':
      return { ...shared, kind, agentId, grantId, authorization: null }
    case 'x402':
      return { ...shared, kind, agentId, grantId, authorization }
    case 'withdrawal':
      return { ...shared, kind, agentId: null, grantId: null, authorization: null }
  }
}

/**
 * Inserts a payment as if it had been created at a given time, without its events. By default, the payment is pending
 * and has no transaction hash. With `kind: 'withdrawal'` it has no agent and no grant, and with `kind: 'x402'` it has
 * an authorization that is valid for two minutes.
 */
export async function seedPayment(
  ctx: Context,
  seeded: Seed,
  {
    status = 'pending',
    at = ctx.clock.now(),
    kind = 'transfer',
    agentId = seeded.agentId,
    grantId = seeded.grant.id,
    authorization = makeAuthorization(at),
    ...changes
  }: PaymentChanges & { readonly at?: Date } = {},
): Promise<Payment> {
  const { amountUsdc = '1' } = changes
  const isAgents = kind !== 'withdrawal'
  const id = createId('payment', at)
  const shared = {
    id,
    workspaceId: seeded.workspace.id,
    mode: seeded.mode,
    walletAddress: seeded.wallet,
    to: RECIPIENT,
    amountMicro: parseAmount(amountUsdc) ?? microUsdc(0n),
    amountUsdc,
    memo: null,
    idempotencyKey: null,
    credentialId: null,
    requestId: null,
    status: 'pending',
    failureCode: null,
    txHash: null,
    createdAt: at,
    acceptedAt: null,
    settledAt: null,
    allowanceMonth: isAgents && seeded.mode === 'live' ? monthOf(at) : null,
    attempt: 1,
    attemptUntil: null,
    requestExpiresAt: null,
    fencedUntil: null,
    enclaveTransactionId: null,
    userOperationHash: null,
    senderNonce: null,
    pendingReason: null,
    firstBlock: null,
    searchedBlock: null,
    lookups: 0,
    minedBlock: null,
    minedBlockHash: null,
    logIndex: null,
    gasWei: null,
    ...changes,
  } as const
  const payment = toKind(shared, { kind, agentId, grantId, authorization })
  const admission = { maxPerTxMicro: WIDE, dailyCapMicro: WIDE, spent24hMicro: microUsdc(0n) }
  await ctx.db.write(
    insertPayments([{ payment: { ...payment, txHash: null }, admission: isAgents ? admission : null }]),
  )
  if (status === 'pending' && payment.txHash === null) return payment
  const txHash = payment.txHash ?? `0x${Buffer.from(id.slice(-16)).toString('hex').padStart(64, '0')}`
  const acceptance = { transactionId: id, txHash, userOperationHash: null }
  const [accepted = null] = await ctx.db.write(
    markAccepted([{ payment, accepted: acceptance, now: at, nextLookupAt: at }]),
  )
  if (accepted === null) throw new Error('the payment was not accepted')
  const settledAt = new Date(at.getTime() + SEND_WINDOW_MS)
  const block = { number: payment.minedBlock ?? 100n, hash: '0x1', gasWei: payment.gasWei }
  if (status === 'pending') return accepted
  const moved = await ctx.db.write(
    status === 'failed'
      ? markFailed(accepted, payment.failureCode ?? 'reverted', settledAt, payment.minedBlock === null ? null : block)
      : markConfirmed(accepted, { ...block, logIndex: payment.logIndex ?? 0n }, settledAt),
  )
  if (moved === null) throw new Error('the payment was not settled')
  return moved
}

/** Makes the authorization that the enclave signs for a purchase that is reserved at this time. */
function makeAuthorization(at: Date, validMs = 120_000): PaymentAuthorization {
  const validBefore = new Date(Math.floor((at.getTime() + validMs) / 1_000) * 1_000)
  return { nonce: `0x${randomBytes(32).toString('hex')}`, validBefore }
}

/**
 * Inserts many payments at once. They were created one millisecond apart, and the last one a millisecond before
 * `before`. Each memo ends with the payment's number, starting with 1. Returns the ids, oldest first.
 */
export async function seedManyPayments(
  ctx: Context,
  seeded: Seed,
  { count, before, memo = 'number ' }: { readonly count: number; readonly before: Date; readonly memo?: string },
): Promise<string[]> {
  const times = Array.from({ length: count }, (_, index) => new Date(before.getTime() - count + index))
  const ids = times.map((time) => createId('payment', time))
  await readRows(
    ctx.db,
    `insert into payments (workspace_id, mode, id, agent_id, wallet_address, grant_id, to_address, amount_micro,
        amount_usdc, memo, status, created_at, max_per_tx_micro, daily_cap_micro, spent_24h_micro, attempt)
      select $1, $2, t.id, $3, $4, $5, $6, 1000000, '1', $9 || t.n, 'pending', t.at, 1000000, 1000000, 0, 1
      from unnest($7::text[], $8::timestamptz[]) with ordinality as t (id, at, n)`,
    [seeded.workspace.id, seeded.mode, seeded.agentId, seeded.wallet, seeded.grant.id, RECIPIENT, ids, times, memo],
  )
  return ids
}
