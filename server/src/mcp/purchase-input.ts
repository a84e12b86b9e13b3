import { Type } from 'typebox'
import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import { compareRequest } from '../domain/payment-requests/compare-request.ts'
import { findEarlierPayments } from '../domain/payment-requests/find-earlier-payments.ts'
import type { PaymentCredential, PaymentRequest } from '../domain/payment-requests/payment-request.ts'
import { parseAddress } from '../values/address.ts'
import { chooseAgent } from './choose-agent.ts'
import { countSeconds } from './count-seconds.ts'
import { describeAmount } from './describe-money.ts'
import { describePayment, formatPaymentAnswer } from './format-payment-answer.ts'
import { parseAmountInput, parseRecipient } from './parse-input.ts'
import { AgentIdInput, type ToolCaller } from './tool.ts'
import { ToolFailure } from './tool-failure.ts'

const PURCHASE_ID_CHARS_MAX = 64
const MEMO_CHARS_MAX = 200
/**
 * Matches a `purchase_id` that the advice in an error's `next` may contain. An id can come from anybody's text, such as
 * a shop's order number. If the id were a sentence, it would look in `next` like our own advice.
 */
const PLAIN_ID = /^[A-Za-z0-9._:/#-]+$/

export const PurchaseIdInput = Type.String({
  minLength: 1,
  maxLength: PURCHASE_ID_CHARS_MAX,
  description: `An id that you choose for this purchase, such as a UUID: one id per purchase, and the same id when you retry. A new id pays again. At most ${PURCHASE_ID_CHARS_MAX} characters.`,
})

/** The arguments that send_payment and preview_payment share. */
export const PURCHASE_INPUT = {
  to: Type.String({ description: 'The address of the recipient: 0x and 40 hexadecimal digits. No name.' }),
  amount_usdc: Type.String({
    description:
      'The amount in US dollars, as a string with at most 6 decimal places. "1.25" is one dollar and 25 cents.',
  }),
  wallet: Type.Optional(
    Type.String({
      description:
        'The address of the wallet that pays. Leave it out if you can pay from one wallet only: get_budget lists the wallets.',
    }),
  ),
  memo: Type.Optional(
    Type.String({
      maxLength: MEMO_CHARS_MAX,
      description: `A note for the owner of the wallet: what this pays for. At most ${MEMO_CHARS_MAX} characters.`,
    }),
  ),
  in_addition_to: Type.Optional(
    Type.String({
      description:
        'Only after the error similar_payment_exists: the id of the earlier payment that it names, to say that this is a further purchase and not the same one again.',
    }),
  ),
  agent_id: AgentIdInput,
} as const

export interface PurchaseArguments {
  readonly purchase_id?: string
  readonly to: string
  readonly amount_usdc: string
  readonly wallet?: string
  readonly in_addition_to?: string
  readonly agent_id?: string
}

/** What is bought. Does not contain the wallet, because the arguments need not name one. */
export type AskedPurchase = Pick<
  PaymentRequest,
  'workspaceId' | 'mode' | 'agentId' | 'to' | 'amountMicro' | 'idempotencyKey' | keyof PaymentCredential
>

/** Parses the arguments of a purchase. Throws a failure that says what is wrong with them. */
export async function readPurchase(ctx: Context, caller: ToolCaller, args: PurchaseArguments): Promise<AskedPurchase> {
  const { workspaceId, mode, credentialId, requestId, agentId: boundAgentId } = caller
  const amountMicro = parseAmountInput(args.amount_usdc)
  const to = parseRecipient(args.to, ctx.chains[mode].usdc)
  const agentId = await chooseAgent(ctx, caller, args.agent_id)
  const idempotencyKey = args.purchase_id ?? null
  return { workspaceId, mode, agentId, to, amountMicro, idempotencyKey, credentialId, requestId, boundAgentId }
}

/**
 * Returns the payment that has this `purchase_id`, or null if there is none. Throws `purchase_id_used` if that payment
 * is for another purchase, and `similar_payment_exists` if the purchase was probably paid already, under another id.
 *
 * The second check protects from a mistake and is no limit: two calls at the same time with two ids can both pass.
 */
export async function findSamePurchase(
  ctx: Pick<Context, 'db' | 'clock'>,
  purchase: AskedPurchase,
  args: Pick<PurchaseArguments, 'wallet' | 'in_addition_to'>,
): Promise<Payment | null> {
  const { in_addition_to: sent } = args
  const { sameKey, similar } = await findEarlierPayments(ctx, purchase)
  if (sameKey !== null) checkSamePurchase(sameKey, purchase, args.wallet)
  else if (similar !== null && similar.id !== sent)
    throw similarExists(ctx, { earlier: similar, sent, what: 'you paid the same amount to the same recipient' })
  return sameKey
}

/**
 * Throws if the payment with this `purchase_id` is for another purchase than the requested one. If the payment were
 * returned instead, the model could believe that the requested purchase is paid.
 */
export function checkSamePurchase(existing: Payment, purchase: AskedPurchase, wallet: string | undefined): void {
  if (existing.agentId !== purchase.agentId) {
    throw new ToolFailure({
      code: 'purchase_id_used',
      message: 'This purchase_id belongs to a payment of another agent of the workspace. Nothing was paid now.',
      next: 'Call again with a purchase_id that nobody else uses, such as a UUID.',
    })
  }
  // A memo may differ, because a model seldom repeats its words exactly. If no wallet is named, any wallet matches.
  const named = wallet === undefined ? existing.walletAddress : (parseAddress(wallet) ?? undefined)
  const differing = compareRequest(existing, { ...purchase, wallet: named, memo: existing.memo })
  if (differing.length === 0) return
  throw new ToolFailure({
    code: 'purchase_id_used',
    message: `This purchase_id belongs to an earlier payment with another ${differing.join(' and ')}: ${describePayment(existing)} Nothing was paid now.`,
    next: 'If this is a new purchase, call again with a new purchase_id. If you retry the earlier one, send its values again.',
    details: { differing, payment: formatPaymentAnswer(existing) },
  })
}

/**
 * The error for a purchase that was probably paid already. A warning would not be enough, because it would come after
 * the money has moved.
 */
export function similarExists(
  ctx: Pick<Context, 'clock'>,
  { earlier, sent, what }: { readonly earlier: Payment; readonly sent: string | undefined; readonly what: string },
): ToolFailure {
  const seconds = Math.round((ctx.clock.now().getTime() - earlier.createdAt.getTime()) / 1_000)
  const key = PLAIN_ID.test(earlier.idempotencyKey ?? '') ? earlier.idempotencyKey : null
  const wrong = sent === undefined ? '' : ' The in_addition_to that you sent is not the id of this payment.'
  const retry =
    key === null
      ? `do not pay again; get_payment with payment_id "${earlier.id}" shows whether it is paid.`
      : `call again with purchase_id ${JSON.stringify(key)}, which never pays twice.`
  return new ToolFailure({
    code: 'similar_payment_exists',
    message: `${countSeconds(seconds)} ago, ${what} with another purchase_id: ${describeAmount(earlier.amountMicro, earlier.mode)}, payment ${earlier.id}. Nothing was paid now.${wrong}`,
    next: `If this is the same purchase, ${retry} If it is a further purchase, call again with in_addition_to "${earlier.id}".`,
    details: { payment: formatPaymentAnswer(earlier) },
  })
}
