import { ZERO_ADDRESS, type Address } from '../../values/address.ts'
import { createId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { formatAmount, microUsdc, type MicroUsdc } from '../../values/money.ts'
import { problem, refusalProblem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { decideFunds } from '../payment-requests/decide-admission.ts'
import { WITHDRAWAL_REQUEST_MS } from '../payments/payment.ts'
import { sumUnmined } from '../payments/pending-store.ts'
import { settleWalletPayments } from '../payments/settle-wallet-payments.ts'
import { listOwnerCredentials } from '../wallets/list-credentials.ts'
import type { SigningRequest } from '../wallets/signing-request.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import type { WithdrawalRequest } from '../owners/withdrawal-request.ts'
import { insertWithdrawalRequest } from '../owners/withdrawal-requests-store.ts'
import { readFunds } from './read-funds.ts'
import { toOwnerTransfer } from './to-owner-transfer.ts'
import { invalidMember } from '../../values/invalid-request.ts'

/** An amount, and how the caller wrote it. */
interface Amount {
  readonly amountMicro: MicroUsdc
  readonly amountUsdc: string
}

export interface IssuedWithdrawal {
  readonly requestId: string
  readonly signingRequest: SigningRequest
  readonly amountUsdc: string
  readonly balanceMicro: MicroUsdc
  /** What the wallet's other payments have reserved of the balance. */
  readonly pendingMicro: MicroUsdc
}

/**
 * Prepares a withdrawal, so that an owner of the wallet can sign it (D62). The owner signs this very transfer, so
 * grants, their limits and the plan's allowance do not apply. `amount` null means everything that no other payment has
 * reserved. Nothing is reserved until the signature is submitted.
 *
 * Errors: 400 `address_invalid`; 404 `wallet_not_found`; 409 `signer_not_configured`; 403
 * `insufficient_balance`, `insufficient_gas`.
 *
 * @throws ChainUnavailable, EnclaveOutOfReach
 */
export async function issueWithdrawalRequest(
  ctx: Context,
  {
    workspaceId,
    mode,
    wallet: address,
    to,
    amount,
    actor,
  }: { workspaceId: string; mode: Mode; wallet: Address; to: Address; amount: Amount | null; actor: Actor },
): Promise<IssuedWithdrawal> {
  const wallet = await ctx.db.read(findWallet(workspaceId, mode, address))
  if (wallet === null) throw problem('wallet_not_found')
  if (ctx.signer === null) throw problem('signer_not_configured')
  checkRecipient(to, { wallet: address, usdc: ctx.chains[mode].usdc })

  const chosen = await chooseAmount(ctx, { wallet, amount })
  const request = buildRequest(ctx, { wallet, to, amount: chosen, actor })
  const { payload } = ctx.enclave.prepareTransfer(toOwnerTransfer(ctx, { wallet, request }))
  const credentials = await listOwnerCredentials(ctx, wallet)
  await saveRequest(ctx, { request, actor })
  return {
    requestId: request.id,
    signingRequest: { payload, expiresAt: request.expiresAt, credentials, before: null },
    amountUsdc: chosen.amountUsdc,
    balanceMicro: chosen.balanceMicro,
    pendingMicro: chosen.pendingMicro,
  }
}

/** USDC that is sent to the zero address or to the token contract is lost (D20). */
function checkRecipient(to: Address, { wallet, usdc }: { wallet: Address; usdc: Address }): void {
  if (to !== ZERO_ADDRESS && to !== usdc && to !== wallet) return
  throw invalidMember('to', 'must not be the zero address, the USDC contract or the wallet itself', 'address_invalid')
}

/** Returns the amount to withdraw. Throws a 403 if the wallet does not have enough. */
async function chooseAmount(
  ctx: Context,
  { wallet, amount }: { wallet: Wallet; amount: Amount | null },
): Promise<Amount & { readonly balanceMicro: MicroUsdc; readonly pendingMicro: MicroUsdc }> {
  const { workspaceId, mode, address } = wallet
  // Without this, payments in recent blocks would count twice: they have left the balance on the chain, but our
  // database still has them as pending.
  await settleWalletPayments(ctx, { workspaceId, mode, wallet: address })
  const { balance, gas } = await readFunds(ctx, wallet)
  const { balanceMicro, blockNumber: balanceBlock } = balance
  const unmined = sumUnmined({ workspaceId, mode, wallet: address }, { now: ctx.clock.now(), balanceBlock })
  const pendingMicro = await ctx.db.read(unmined)
  const chosen = amount ?? everythingOf(balanceMicro - pendingMicro)
  const refusal = decideFunds({ request: chosen, balanceMicro, unminedMicro: pendingMicro, gas })
  if (refusal !== null) throw refusalProblem(refusal)
  return { ...chosen, balanceMicro, pendingMicro }
}

/**
 * Returns everything that is left. If nothing is left, returns the smallest possible amount, which the check of the
 * funds then refuses.
 */
function everythingOf(leftMicro: bigint): Amount {
  const amountMicro = microUsdc(leftMicro > 0n ? leftMicro : 1n)
  return { amountMicro, amountUsdc: formatAmount(amountMicro) }
}

function buildRequest(
  ctx: Context,
  { wallet, to, amount, actor }: { wallet: Wallet; to: Address; amount: Amount; actor: Actor },
): WithdrawalRequest {
  const { workspaceId, mode, address } = wallet
  const now = ctx.clock.now()
  const expiresAt = new Date(now.getTime() + WITHDRAWAL_REQUEST_MS)
  return {
    workspaceId,
    id: createId('ownerRequest', now),
    mode,
    walletAddress: address,
    paymentId: createId('payment', now),
    to,
    amountMicro: amount.amountMicro,
    amountUsdc: amount.amountUsdc,
    sponsored: ctx.chains[mode].gas === 'sponsored',
    requestExpiresAt: ctx.enclave.toEnclaveTime(expiresAt),
    expiresAt,
    createdAt: now,
    createdBy: actor.kind === 'user' ? actor.id : null,
    submittedBy: null,
  }
}

async function saveRequest(
  { db }: Pick<Context, 'db'>,
  { request, actor }: { request: WithdrawalRequest; actor: Actor },
): Promise<void> {
  const { workspaceId, mode, walletAddress: wallet, to, amountUsdc, paymentId: subject, createdAt } = request
  const details = { mode, wallet, to, amount_usdc: amountUsdc }
  const entry = { logId: workspaceId, createdAt, actor, action: 'withdrawal.requested', subject, details } as const
  await db.transaction(async (transaction) => {
    await transaction.commit([insertWithdrawalRequest(request), insertAuditEntry(entry)])
  })
}
