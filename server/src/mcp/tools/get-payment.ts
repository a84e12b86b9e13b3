import { Type } from 'typebox'
import { findPurchaseOf } from '../../domain/purchases/find-earlier-purchase.ts'
import { waitForPayment } from '../../domain/reconciliation/wait-for-payment.ts'
import { Problem } from '../../values/problem.ts'
import { orNull } from '../../values/schema-fields.ts'
import { chooseAgent } from '../choose-agent.ts'
import { BoughtSchema, describeBought, formatBought } from '../describe-bought.ts'
import { describePayment, formatPaymentAnswer, PaymentAnswerSchema } from '../format-payment-answer.ts'
import { AgentIdInput, defineTool, inputOf, outputOf, READ_HINTS, WaitSecondsInput } from '../tool.ts'
import { ToolFailure } from '../tool-failure.ts'

export const GET_PAYMENT = defineTool({
  name: 'get_payment',
  title: 'Look up a payment',
  description:
    'Returns one payment with its current status: pending, confirmed or failed, and what it bought, if it was made by fetch_paid. With wait_seconds, waits until the payment is confirmed or failed, but no longer than that.',
  input: inputOf({
    payment_id: Type.String({ description: 'The id of the payment, such as pay_01J…, as send_payment returned it.' }),
    wait_seconds: WaitSecondsInput,
    agent_id: AgentIdInput,
  }),
  output: outputOf({ payment: PaymentAnswerSchema, purchase: orNull(BoughtSchema) }),
  annotations: READ_HINTS,
  requirements: { bucket: 'default' },
  async run(ctx, { caller, args, signal, onWait }) {
    const { workspaceId, mode } = caller
    // The id says which payment is meant, so a key that is bound to no agent need not name an agent.
    const agentId = args.agent_id === undefined ? caller.agentId : await chooseAgent(ctx, caller, args.agent_id)
    const waitMs = (args.wait_seconds ?? 0) * 1_000
    const payment = await waitForPayment(ctx, {
      ...{ workspaceId, mode, id: args.payment_id },
      ...{ ofAgents: true, waitMs, signal, onWait },
    }).catch(explainNotFound)
    const isOwn = agentId === null || payment.agentId === null || payment.agentId === agentId
    const payer = isOwn ? '' : ` The agent ${JSON.stringify(payment.agentId)} made this payment, not you.`
    const purchase = await findPurchaseOf(ctx, payment)
    const bought = purchase === null ? '' : ` ${describeBought(purchase)}`
    return {
      summary: describePayment(payment) + bought + payer,
      members: {
        payment: formatPaymentAnswer(payment),
        purchase: purchase === null ? null : formatBought(purchase),
      },
    }
  },
})

/** Models send a purchase_id instead of the id, so the error says what an id looks like and where to find it. */
function explainNotFound(error: unknown): never {
  if (!(error instanceof Problem) || error.type !== 'not_found') throw error
  throw new ToolFailure({
    code: 'not_found',
    message: 'There is no payment with this id. The id of a payment begins with pay_; a purchase_id is no payment id.',
    next: 'Call list_ledger: it lists your payments, each with its id and its purchase_id.',
    cause: error,
  })
}
