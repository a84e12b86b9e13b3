import type { Context } from '../domain/context.ts'
import type { Payment } from '../domain/payments/payment.ts'
import type { EarlierPurchase } from '../domain/purchases/find-earlier-purchase.ts'
import { findByKey } from '../domain/purchases/find-earlier-purchase.ts'
import { findRepeatedPurchase } from '../domain/purchases/find-repeated-purchase.ts'
import type { PurchaseTerms, AgentRequest } from '../domain/purchases/purchase-request.ts'
import { chooseAgent } from './choose-agent.ts'
import { chooseWallet } from './choose-wallet.ts'
import { describePayment, formatPaymentAnswer } from './format-payment-answer.ts'
import { parseAmountInput } from './parse-input.ts'
import { similarExists } from './purchase-input.ts'
import type { ToolCall } from './tool.ts'
import { ToolFailure } from './tool-failure.ts'

interface TermsArguments {
  readonly max_amount_usdc: string
  readonly purchase_id: string
  readonly wallet?: string
  readonly memo?: string
  readonly in_addition_to?: string
  readonly agent_id?: string
}

/**
 * Parses who buys, and for how much at most. A call that repeats an existing purchase need not name the wallet. Throws
 * `similar_payment_exists` if the same request was paid in the last ten minutes under another `purchase_id`.
 */
export async function readTerms(
  ctx: Context,
  { caller, args }: Pick<ToolCall<TermsArguments>, 'caller' | 'args'>,
  request: AgentRequest,
): Promise<PurchaseTerms> {
  const { workspaceId, mode, credentialId, requestId, agentId: boundAgentId } = caller
  const maxAmountMicro = parseAmountInput(args.max_amount_usdc, 'max_amount_usdc')
  const agentId = await chooseAgent(ctx, caller, args.agent_id)
  const key = { workspaceId, mode, agentId, idempotencyKey: args.purchase_id }
  const existing = await findByKey(ctx, key)
  if (existing === null) await checkNotRepeated(ctx, { key, request, sent: args.in_addition_to })
  const wallet =
    existing !== null && args.wallet === undefined
      ? existing.walletAddress
      : await chooseWallet(ctx, { caller, agentId, named: args.wallet })
  // The memo of an existing purchase is kept, because a model seldom repeats a memo exactly.
  const memo = existing === null ? (args.memo ?? null) : existing.memo
  return { ...key, credentialId, requestId, boundAgentId, wallet, maxAmountMicro, memo }
}

async function checkNotRepeated(
  ctx: Context,
  {
    key,
    request,
    sent,
  }: {
    key: Parameters<typeof findRepeatedPurchase>[1]
    request: AgentRequest
    sent: string | undefined
  },
): Promise<void> {
  const repeated = await findRepeatedPurchase(ctx, key, request)
  if (repeated === null || repeated.id === sent) return
  throw similarExists(ctx, { earlier: repeated, sent, what: 'you bought the same resource' })
}

/** The fields that a retry may change: the price is paid already, and a memo is only a note. */
const IGNORED: readonly string[] = ['max_amount_usdc', 'memo']

/** Throws `purchase_id_used` if the payment with this `purchase_id` is a purchase other than the one asked for now. */
export function checkSameResource(
  { payment, mismatches }: Pick<EarlierPurchase, 'mismatches'> & { readonly payment: Payment },
  { agentId }: Pick<PurchaseTerms, 'agentId'>,
): void {
  if (payment.agentId !== agentId) {
    throw new ToolFailure({
      code: 'purchase_id_used',
      message: 'This purchase_id belongs to a payment of another agent of the workspace. Nothing was paid now.',
      next: 'Call again with a purchase_id that nobody else uses, such as a UUID.',
    })
  }
  const differing = mismatches.filter((field) => !IGNORED.includes(field))
  if (differing.length === 0) return
  throw new ToolFailure({
    code: 'purchase_id_used',
    message: `This purchase_id belongs to an earlier payment with another ${differing.join(' and ')}: ${describePayment(payment)} Nothing was paid now.`,
    next: 'If this is a new purchase, call again with a new purchase_id. If you retry the earlier one, send its values again.',
    details: { differing, payment: formatPaymentAnswer(payment) },
  })
}
