import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { previewPayment } from '../../domain/payment-requests/preview-payment.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import { remainingMicro } from '../../domain/grants/decide-limits.ts'
import type { Address } from '../../values/address.ts'
import { formatAmount } from '../../values/money.ts'
import { orNull, usdc } from '../../values/schema-fields.ts'
import { refusalProblem } from '../../values/problem.ts'
import { chooseWallet } from '../choose-wallet.ts'
import { describeAmount } from '../describe-money.ts'
import { describeRefusal } from '../describe-refusal.ts'
import { describePayment, formatPaymentAnswer, PaymentAnswerSchema } from '../format-payment-answer.ts'
import {
  findSamePurchase,
  PURCHASE_INPUT,
  PurchaseIdInput,
  readPurchase,
  type PurchaseArguments,
} from '../purchase-input.ts'
import { defineTool, inputOf, outputOf, READ_HINTS, type ToolAnswer, type ToolCall } from '../tool.ts'
import { formatToolError, ToolErrorSchema, ToolFailure } from '../tool-failure.ts'

export const PREVIEW_PAYMENT = defineTool({
  name: 'preview_payment',
  title: 'Check a payment',
  description:
    'Checks a payment exactly as send_payment would, and pays nothing. Says whether the payment is allowed now, and what would be left afterwards, or for which `reason` it is not allowed. Takes the arguments of send_payment; purchase_id may be left out.',
  input: inputOf({ purchase_id: Type.Optional(PurchaseIdInput), ...PURCHASE_INPUT }),
  output: outputOf({
    allowed: Type.Boolean({ description: 'Whether send_payment would accept the payment now.' }),
    wallet: Type.String({ description: 'The wallet that would pay.' }),
    remaining_24h_after_usdc: usdc('What would be left of the 24-hour limit after this payment.'),
    available_usdc: usdc('What the wallet can pay now: its balance, without what earlier payments have reserved.'),
    existing_payment: orNull(PaymentAnswerSchema),
    reason: Type.Omit(ToolErrorSchema, [], { description: 'Why the payment is not allowed, and what is possible.' }),
  }),
  annotations: READ_HINTS,
  requirements: { bucket: 'default', scope: 'wallet:transfer' },
  async run(ctx, call) {
    try {
      return await preview(ctx, call)
    } catch (error) {
      if (error instanceof ToolFailure && REASONS.includes(error.code)) return notAllowed(error)
      throw error
    }
  },
})

/**
 * The errors of send_payment that do not follow from the arguments alone. In these cases, as when a limit would refuse
 * the payment, the preview succeeds, and returns the error as the `reason` why the payment is not allowed. With invalid
 * arguments, the preview fails.
 */
const REASONS: readonly ToolFailure['code'][] = ['no_wallet', 'purchase_id_used', 'similar_payment_exists']

async function preview(
  ctx: Context,
  { caller, args }: ToolCall<PurchaseArguments & { readonly memo?: string }>,
): Promise<ToolAnswer> {
  const purchase = await readPurchase(ctx, caller, args)
  const existing = await findSamePurchase(ctx, purchase, args)
  if (existing !== null) return alreadyMade(existing)
  const wallet = await chooseWallet(ctx, { caller, agentId: purchase.agentId, named: args.wallet })
  const what = `${describeAmount(purchase.amountMicro, purchase.mode)} from ${wallet} to ${purchase.to}`
  const request = { ...purchase, wallet, amountUsdc: args.amount_usdc, memo: args.memo ?? null }
  const outcome = await previewPayment(ctx, request)
  switch (outcome.kind) {
    case 'existing':
      return alreadyMade(outcome.payment)
    case 'refused': {
      const { code, details } = outcome.refusal
      const { message } = refusalProblem(outcome.refusal)
      const failure = new ToolFailure({ code, message, next: describeRefusal(code, details), details })
      return notAllowed(failure, { wallet, what: `${what}. ` })
    }
    case 'allowed': {
      const { grant, facts, balanceMicro } = outcome
      const spentMicro = facts.spent24hMicro + purchase.amountMicro
      return {
        summary: `Allowed now: ${what}. Nothing was paid yet.`,
        members: {
          ...{ allowed: true, wallet, existing_payment: null },
          remaining_24h_after_usdc: formatAmount(remainingMicro(grant.dailyCapMicro, spentMicro)),
          available_usdc: formatAmount(remainingMicro(balanceMicro, facts.unminedMicro)),
        },
      }
    }
  }
}

function alreadyMade(payment: Payment): ToolAnswer {
  const summary = `A payment with this purchase_id exists, so send_payment would pay nothing. ${describePayment(payment)}`
  return { summary, members: { allowed: true, existing_payment: formatPaymentAnswer(payment) } }
}

function notAllowed(failure: ToolFailure, { wallet, what }: { wallet?: Address; what?: string } = {}): ToolAnswer {
  const reason = formatToolError(failure)
  return {
    summary: `Not allowed: ${what ?? ''}${reason.message} ${reason.next}`,
    members: { allowed: false, ...(wallet === undefined ? {} : { wallet }), existing_payment: null, reason },
  }
}
