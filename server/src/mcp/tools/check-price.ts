import { Type } from 'typebox'
import { remainingMicro } from '../../domain/grants/decide-limits.ts'
import type { PaymentPreview } from '../../domain/payment-requests/preview-payment.ts'
import { explainPurchase } from '../explain-purchase.ts'
import { checkResource, scopeToAsk, type CheckedPrice } from '../../domain/purchases/check-resource.ts'
import type { Context } from '../../domain/context.ts'
import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { formatAmount } from '../../values/money.ts'
import { refusalProblem } from '../../values/problem.ts'
import { list, orNull, usdc } from '../../values/schema-fields.ts'
import { chooseAgent } from '../choose-agent.ts'
import { chooseWallet } from '../choose-wallet.ts'
import { describeAmount } from '../describe-money.ts'
import { describeRefusal } from '../describe-refusal.ts'
import { describeUnread, formatSkipped } from '../explain-purchase.ts'
import { PURCHASE_INPUT } from '../purchase-input.ts'
import { methodOf, readResource, RESOURCE_INPUT } from '../resource-input.ts'
import { AgentIdInput, defineTool, inputOf, outputOf, READ_HINTS, type ToolAnswer, type ToolCall } from '../tool.ts'
import { formatToolError, ToolErrorSchema, ToolFailure } from '../tool-failure.ts'
import { markUntrusted, UntrustedTextSchema } from '../untrusted-text.ts'

export const CHECK_PRICE = defineTool({
  name: 'check_price',
  title: 'Check a price',
  description:
    'Asks a web resource what it costs, and pays nothing. Also says whether fetch_paid would be allowed now. Takes the url, method, headers and body of fetch_paid. A method other than GET and HEAD needs the scope of fetch_paid.',
  input: inputOf({ ...RESOURCE_INPUT, wallet: PURCHASE_INPUT.wallet, agent_id: AgentIdInput }),
  output: outputOf({
    status: Type.Integer({ description: 'The HTTP status of the answer. 402 if the resource asks for a payment.' }),
    price_usdc: orNull(usdc('The price. Null if there is nothing to pay, or no way to pay that is supported.')),
    pay_to: orNull(Type.String({ description: 'The address that would be paid.' })),
    seller_text: orNull(UntrustedTextSchema),
    skipped: list(Type.Object({ reason: Type.String(), offer: UntrustedTextSchema }), {
      description: 'Ways to pay that are not supported.',
    }),
    unread_options: Type.Integer({ description: 'Further ways to pay that were not read.' }),
    allowed: orNull(
      Type.Boolean({ description: 'Whether fetch_paid would be allowed now. Null if there is no price.' }),
    ),
    wallet: orNull(Type.String({ description: 'The wallet that would pay.' })),
    remaining_24h_after_usdc: usdc('What would be left of the 24-hour limit after this purchase.'),
    reason: Type.Omit(ToolErrorSchema, [], { description: 'Why the purchase is not allowed, and what is possible.' }),
  }),
  annotations: { ...READ_HINTS, openWorldHint: true },
  requirements: { bucket: 'default' },
  requirementsOf(args) {
    const scope = scopeToAsk(methodOf(args))
    return scope === null ? {} : { scope }
  },
  async run(ctx, call) {
    const { caller } = call
    const request = readResource(call.args, ctx.outbound)
    const { buyer, failure } = await findBuyer(ctx, call)
    const { workspaceId, mode, credentialId, agentId: boundAgentId } = caller
    const price = await checkResource(
      ctx,
      { workspaceId, mode, credentialId, boundAgentId, request, buyer },
      { onWait: call.onWait ?? (() => undefined) },
    ).catch((error: unknown) => explainPurchase(error, mode))
    return describePrice(price, { mode, wallet: buyer?.wallet ?? null, failure })
  },
})

interface Buyer {
  readonly buyer: { readonly agentId: AgentId; readonly wallet: Address } | null
  /** Why there is no buyer. */
  readonly failure: ToolFailure | null
}

/** A price is useful even if nobody can pay it now, so the call does not fail if the wallet or the agent is missing. */
async function findBuyer(
  ctx: Context,
  { caller, args }: Pick<ToolCall<{ readonly wallet?: string; readonly agent_id?: string }>, 'caller' | 'args'>,
): Promise<Buyer> {
  try {
    const agentId = await chooseAgent(ctx, caller, args.agent_id)
    const wallet = await chooseWallet(ctx, { caller, agentId, named: args.wallet })
    return { buyer: { agentId, wallet }, failure: null }
  } catch (error) {
    if (!(error instanceof ToolFailure) || !REASONS.includes(error.code)) throw error
    return { buyer: null, failure: error }
  }
}

const REASONS: readonly ToolFailure['code'][] = ['no_wallet', 'wallet_required', 'agent_id_required']

function describePrice(
  { status, required, offer, preview }: CheckedPrice,
  {
    mode,
    wallet,
    failure,
  }: { readonly mode: Mode; readonly wallet: Address | null; readonly failure: ToolFailure | null },
): ToolAnswer {
  const seen = {
    status,
    price_usdc: offer === null ? null : formatAmount(offer.amountMicro),
    pay_to: offer?.payTo ?? null,
    seller_text: markUntrusted((offer ?? required)?.description ?? null),
    skipped: formatSkipped(required?.skipped),
    unread_options: required?.unread ?? 0,
    wallet,
  }
  const unread = describeUnread(seen.unread_options)
  if (offer === null)
    return { summary: `${withoutPrice({ status, required })}${unread}`, members: { ...seen, allowed: null } }
  const costs = `The resource costs ${describeAmount(offer.amountMicro, mode)}. Nothing was paid.${unread}`
  const reason = failure ?? reasonOf(preview)
  if (reason !== null) {
    const shown = formatToolError(reason)
    const summary = `${costs} You cannot buy it now: ${shown.message} ${shown.next}`
    return { summary, members: { ...seen, allowed: false, reason: shown } }
  }
  const left = preview?.kind === 'allowed' ? { remaining_24h_after_usdc: leftAfter(preview) } : {}
  return { summary: `${costs} fetch_paid would be allowed now.`, members: { ...seen, allowed: true, ...left } }
}

function withoutPrice({ status, required }: Pick<CheckedPrice, 'status' | 'required'>): string {
  if (required !== null) return 'The resource asks for a payment, but offers no way to pay that Bursar supports.'
  return status === 402
    ? 'The resource asks for a payment, but in no protocol that Bursar knows (x402, MPP).'
    : `The resource asks for no payment: its answer has the status ${status}. fetch_paid would return it without paying.`
}

function reasonOf(preview: PaymentPreview | null): ToolFailure | null {
  if (preview?.kind !== 'refused') return null
  const { code, details } = preview.refusal
  const { message } = refusalProblem(preview.refusal)
  return new ToolFailure({ code, message, next: describeRefusal(code, details), details })
}

function leftAfter({ grant, facts, amountMicro }: Extract<PaymentPreview, { readonly kind: 'allowed' }>): string {
  return formatAmount(remainingMicro(grant.dailyCapMicro, facts.spent24hMicro + amountMicro))
}
