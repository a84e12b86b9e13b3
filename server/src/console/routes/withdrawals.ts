import { issueWithdrawalRequest } from '../../domain/withdrawals/issue-withdrawal-request.ts'
import { submitWithdrawal } from '../../domain/withdrawals/submit-withdrawal.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatAmount } from '../../values/money.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WITHDRAWAL_ROUTES } from '../contract/withdrawals.ts'
import { memberOf } from '../current-membership.ts'
import { formatPaymentRow } from '../format-payment.ts'
import { formatSigningRequest } from '../format-signing-request.ts'
import { parseAuthentication } from '../parse-body.ts'
import { parseEvmAddress, parseUsdc } from '../parse-terms.ts'

/** Withdrawals (D62). Admins prepare them, an owner of the wallet signs, and any admin may submit the signature. */
export function addWithdrawalRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...WITHDRAWAL_ROUTES.issueRequest,
    handler: async (request, reply) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, wallet, to, amount_usdc: amountUsdc } = request.body
      const issued = await issueWithdrawalRequest(ctx, {
        workspaceId,
        mode,
        wallet: parseEvmAddress('wallet', wallet),
        to: parseEvmAddress('to', to),
        amount: amountUsdc === null ? null : { amountMicro: parseUsdc('amount_usdc', amountUsdc), amountUsdc },
        actor,
      })
      return reply.code(201).send({
        request_id: issued.requestId,
        request: formatSigningRequest(issued.signingRequest),
        amount_usdc: issued.amountUsdc,
        balance_usdc: formatAmount(issued.balanceMicro),
        pending_usdc: formatAmount(issued.pendingMicro),
      })
    },
  })

  http.route({
    ...WITHDRAWAL_ROUTES.submitSignature,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const assertion = parseAuthentication(request.body)
      const payment = await submitWithdrawal(ctx, { workspaceId, requestId: request.params.id, assertion, actor })
      return { payment: formatPaymentRow(payment) }
    },
  })
}
