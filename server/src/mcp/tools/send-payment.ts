import { Type } from 'typebox'
import { createPayment } from '../../domain/payment-requests/create-payment.ts'
import { replayPayment } from '../../domain/payment-requests/replay-payment.ts'
import type { Context } from '../../domain/context.ts'
import { nameInLog, type Payment } from '../../domain/payments/payment.ts'
import { refusalProblem } from '../../values/problem.ts'
import { chooseWallet } from '../choose-wallet.ts'
import { describePayment, formatPaymentAnswer, PaymentAnswerSchema } from '../format-payment-answer.ts'
import {
  checkSamePurchase,
  findSamePurchase,
  PURCHASE_INPUT,
  PurchaseIdInput,
  readPurchase,
} from '../purchase-input.ts'
import { defineTool, inputOf, outputOf, type ToolCall, WaitSecondsInput } from '../tool.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import { waitForPayment } from '../../domain/reconciliation/wait-for-payment.ts'

export const SEND_PAYMENT = defineTool({
  name: 'send_payment',
  title: 'Send a payment',
  description:
    'Pays USDC from a wallet to an address, at once and for good: a payment cannot be taken back. ' +
    'purchase_id: choose one id per purchase, and send the same id when you retry; then the purchase is never paid twice. A new id pays again. ' +
    'amount_usdc is a string in dollars ("1.25" is one dollar and 25 cents). Check the amount and the recipient with the user if you are not sure. ' +
    'If the limits do not allow the payment, nothing is paid and the error says what is possible.',
  input: inputOf({ purchase_id: PurchaseIdInput, ...PURCHASE_INPUT, wait_seconds: WaitSecondsInput }),
  output: outputOf({
    payment: PaymentAnswerSchema,
    replayed: Type.Boolean({
      description: 'Whether an earlier call with this purchase_id had made the payment already.',
    }),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  requirements: { bucket: 'payments', scope: 'wallet:transfer' },
  async run(ctx, call) {
    const { payment, replayed } = await pay(ctx, call)
    const settled = await awaitOutcome(ctx, payment, call)
    const summary = [
      // If the earlier call failed before it sent the payment, this call has sent it. In both cases, the payment is
      // sent only once.
      ...(replayed ? ['An earlier call with this purchase_id made this payment, so this call did not pay again.'] : []),
      describePayment(settled),
    ].join(' ')
    return { summary, members: { payment: formatPaymentAnswer(settled), replayed } }
  },
})

type Arguments = Parameters<typeof readPurchase>[2] & { readonly memo?: string }

/** Makes the payment, or returns the one that an earlier call with this `purchase_id` has made. */
async function pay(
  ctx: Context,
  { caller, args }: ToolCall<Arguments>,
): Promise<{ readonly payment: Payment; readonly replayed: boolean }> {
  const purchase = await readPurchase(ctx, caller, args)
  const existing = await findSamePurchase(ctx, purchase, args)
  if (existing !== null) return { payment: (await replayPayment(ctx, purchase)) ?? existing, replayed: true }
  const wallet = await chooseWallet(ctx, { caller, agentId: purchase.agentId, named: args.wallet })
  const request = { ...purchase, wallet, amountUsdc: args.amount_usdc, memo: args.memo ?? null }
  const outcome = await createPayment(ctx, request)
  if (outcome.kind === 'refused') throw refusalProblem(outcome.refusal)
  // Another call with the same purchase_id was faster.
  if (outcome.kind === 'replayed') checkSamePurchase(outcome.payment, purchase, args.wallet)
  return { payment: outcome.payment, replayed: outcome.kind === 'replayed' }
}

/**
 * Waits until a payment is confirmed or failed, but not longer than the call asks for and its time limit allows.
 * Returns the payment as it is then. If the database cannot be reached while we wait, returns the payment as it was
 * recorded: an error would say that the call did nothing, although it has made the payment.
 */
async function awaitOutcome(
  ctx: Context,
  payment: Payment,
  { args, signal, onWait }: Pick<ToolCall<{ readonly wait_seconds?: number }>, 'args' | 'signal' | 'onWait'>,
): Promise<Payment> {
  const waitMs = (args.wait_seconds ?? 0) * 1_000
  if (waitMs === 0 || payment.status !== 'pending') return payment
  const { workspaceId, mode, id } = payment
  try {
    return await waitForPayment(ctx, { workspaceId, mode, id, ofAgents: true, waitMs, signal, onWait })
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error
    ctx.logger.warn({ err: error, ...nameInLog(payment) }, 'a call could not wait for its payment')
    return payment
  }
}
