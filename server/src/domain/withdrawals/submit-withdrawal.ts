import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { RequestToSign, TransferOutcome } from '../../enclave/enclave.ts'
import { isId } from '../../values/ids.ts'
import { problem, type Refusal, refusalProblem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { decideFunds } from '../payment-requests/decide-admission.ts'
import { getPayment } from '../payments/get-payment.ts'
import { newPayment } from '../payments/new-payment.ts'
import { ATTEMPT_MS, type Payment } from '../payments/payment.ts'
import { insertPayments } from '../payments/payments-store.ts'
import { sumUnmined } from '../payments/pending-store.ts'
import { recordOutcome } from '../payments/record-outcome.ts'
import { settleWalletPayments } from '../payments/settle-wallet-payments.ts'
import { withRecordedOutcome } from '../payments/with-recorded-outcome.ts'
import { settleRemovals } from '../owners/open-owner-change.ts'
import { keepSignature } from '../owner-signatures/keep-signature.ts'
import type { OwnerSignature } from '../owner-signatures/owner-signature.ts'
import { checkOwnerSignature } from '../wallets/owner-passkey.ts'
import { fenceOf } from '../wallets/signing-fence.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { findWallet, lockWallet } from '../wallets/wallets-store.ts'
import type { WithdrawalRequest } from '../owners/withdrawal-request.ts'
import { findWithdrawalRequest, markWithdrawalSubmitted } from '../owners/withdrawal-requests-store.ts'
import { readFunds } from './read-funds.ts'
import { toOwnerTransfer } from './to-owner-transfer.ts'

const RESULT_NOT_SAVED =
  'The withdrawal was recorded, but its result could not be saved yet. Find it among the payments, and do not sign another one before it has ended.'

/**
 * Sends a withdrawal that an owner of the wallet has signed (D62). The service verifies the signature first, and the
 * enclave verifies it again. The withdrawal is recorded before it is sent, and its amount then counts against the
 * wallet's balance like that of every payment.
 *
 * The withdrawal is sent once. If the same request is submitted again, its payment is returned. A payment whose outcome
 * is not known stays pending, and the reconciler ends it as soon as there is proof (decision 0026).
 *
 * Errors: 400 `signature_invalid`; 403 `insufficient_balance`, `insufficient_gas`; 404 `withdrawal_not_found`; 409
 * `signing_request_expired`, `signing_request_stale`, `signer_not_configured`, `signer_change_under_way`.
 *
 * @throws ChainUnavailable if the balance cannot be read, and EnclaveOutOfReach if the enclave has been out of reach for
 * some seconds. Then nothing was recorded, and the same signature may be submitted again.
 */
export async function submitWithdrawal(
  ctx: Context,
  {
    workspaceId,
    requestId,
    assertion,
    actor,
  }: { workspaceId: string; requestId: string; assertion: AuthenticationResponseJSON; actor: Actor },
): Promise<Payment> {
  const { request, wallet } = await getRequestAndWallet(ctx, { workspaceId, requestId })
  if (request.submittedBy !== null) return await getRecorded(ctx, request)
  if (ctx.clock.now() >= request.expiresAt) throw problem('signing_request_expired')
  await settleRemovals(ctx, { ...wallet, wallets: [wallet.address], credentialId: assertion.id })
  const toSign = ctx.enclave.prepareTransfer(toOwnerTransfer(ctx, { wallet, request }))
  const requestedAt = request.createdAt
  const signature = await checkOwnerSignature(ctx, { wallet, challenge: toSign.payload, requestedAt, assertion })

  const reservation = await reserve(ctx, { wallet, request, actor, signature })
  if (reservation.kind === 'refused') throw refusalProblem(reservation.refusal)
  if (reservation.kind === 'existing') return await getRecorded(ctx, request)
  const { payment } = reservation
  return await withRecordedOutcome(send(ctx, { payment, toSign, signature }), payment, RESULT_NOT_SAVED)
}

async function getRequestAndWallet(
  { db }: Pick<Context, 'db'>,
  { workspaceId, requestId }: { workspaceId: string; requestId: string },
): Promise<{ request: WithdrawalRequest; wallet: Wallet }> {
  const isKnown = isId('ownerRequest', requestId)
  const request = isKnown ? await db.read(findWithdrawalRequest(workspaceId, requestId)) : null
  if (request === null) throw problem('withdrawal_not_found')
  const wallet = await db.read(findWallet(workspaceId, request.mode, request.walletAddress))
  if (wallet === null) throw new Error(`the withdrawal ${request.id} has no wallet`)
  return { request, wallet }
}

async function getRecorded(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, paymentId }: WithdrawalRequest,
): Promise<Payment> {
  return await getPayment(ctx, { workspaceId, mode, id: paymentId })
}

type Reservation =
  | { readonly kind: 'reserved'; readonly payment: Payment }
  /** Somebody else has submitted the same request. */
  | { readonly kind: 'existing' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

interface Signed {
  readonly wallet: Wallet
  readonly request: WithdrawalRequest
  readonly actor: Actor
  readonly signature: OwnerSignature
}

/**
 * Records the payment in one transaction, which holds the lock on the wallet. So no other payment of the wallet is
 * reserved meanwhile. If one request is submitted twice, the second submission finds the first.
 */
async function reserve(ctx: Context, signed: Signed): Promise<Reservation> {
  const { wallet, request, actor, signature } = signed
  const { workspaceId, mode, address } = wallet
  // Without this, payments in recent blocks would count twice: they have left the balance on the chain, but our
  // database still has them as pending.
  await settleWalletPayments(ctx, { workspaceId, mode, wallet: address })
  const { balance, gas } = await readFunds(ctx, wallet)
  const { balanceMicro, blockNumber: balanceBlock } = balance
  return await ctx.db.transaction(async (transaction) => {
    const [, current, unminedMicro] = await transaction.batch([
      lockWallet(workspaceId, mode, address),
      findWithdrawalRequest(workspaceId, request.id),
      sumUnmined({ workspaceId, mode, wallet: address }, { now: ctx.clock.now(), balanceBlock }),
    ] as const)
    if (current === null || current.submittedBy !== null) return { kind: 'existing' }
    const refusal = decideFunds({ request, balanceMicro, unminedMicro, gas })
    if (refusal !== null) return { kind: 'refused', refusal }

    // We may have waited a while for the lock.
    const now = ctx.clock.now()
    if (now >= request.expiresAt) return { kind: 'refused', refusal: { code: 'signing_request_expired' } }
    const payment = buildPayment(request, { now, firstBlock: balanceBlock })
    await transaction.commit([
      // First, so that the log has the leaf of the signature before that of the payment which it allowed.
      keepSignature(ctx, signature, {
        ...{ workspaceId, mode, actor, kind: 'withdrawal', subject: payment.id, statement: null },
        usableUntil: fenceOf(request),
      }),
      insertPayments([{ payment, admission: null }]),
      markWithdrawalSubmitted(request, { actor, now }),
      insertAuditEntry({
        ...{ logId: workspaceId, createdAt: now, actor, action: 'withdrawal.submitted', subject: payment.id },
        details: {
          ...{ mode, wallet: address, to: request.to, amount_usdc: request.amountUsdc },
          // The person whose passkey signed need not be the actor.
          credential_id: signature.credentialId,
        },
      }),
    ])
    return { kind: 'reserved', payment }
  })
}

function buildPayment(request: WithdrawalRequest, { now, firstBlock }: { now: Date; firstBlock: bigint }): Payment {
  const { workspaceId, mode, walletAddress, to, amountMicro, amountUsdc, requestExpiresAt } = request
  return newPayment({
    ...{ id: request.paymentId, workspaceId, mode, kind: 'withdrawal', agentId: null, grantId: null },
    ...{ walletAddress, to, amountMicro, amountUsdc, memo: null, idempotencyKey: null, credentialId: null },
    requestId: null,
    createdAt: now,
    allowanceMonth: null,
    authorization: null,
    attemptUntil: new Date(now.getTime() + ATTEMPT_MS),
    requestExpiresAt,
    firstBlock,
  })
}

/** Sends the recorded withdrawal, and returns it as it is afterwards. */
async function send(
  ctx: Context,
  {
    payment,
    toSign,
    signature,
  }: { payment: Payment; toSign: RequestToSign<TransferOutcome>; signature: OwnerSignature },
): Promise<Payment> {
  const outcome = await toSign.submit(signature.assertion)
  const recorded = await recordOutcome(ctx, payment, outcome)
  return recorded.kind === 'done' ? recorded.payment : await getPayment(ctx, payment)
}
