import type { Context } from '../../domain/context.ts'
import { listSpendable } from '../../domain/agents/queries.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatAmount } from '../../values/money.ts'
import { callerOf } from '../caller.ts'
import { IdentitySchema } from '../schemas.ts'
import { Type } from 'typebox'
import type { Authenticate } from './agents.ts'

export function addMeRoute(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(IdentitySchema)
  http.get(
    '/v1/me',
    {
      onRequest: authenticate({ bucket: 'default' }),
      config: { load: 'database' },
      schema: {
        operationId: 'getIdentity',
        summary: 'Describe the current credential',
        description:
          'Returns the workspace, the mode and the scopes of the credential, and the wallets from which it can pay now.',
        tags: ['Identity'],
        response: {
          200: { ...Type.Ref('Identity'), description: 'The workspace, mode and limits of the credential.' },
        },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const wallets = await listSpendable(ctx, caller)
      const isBound = caller.agentId !== null
      return {
        auth_type: caller.authType,
        account_slug: caller.accountSlug,
        account_name: caller.accountName,
        mode: caller.mode,
        scopes: caller.scopes,
        agent_id: caller.agentId,
        expires_at: caller.expiresAt?.toISOString() ?? null,
        wallets: wallets.map((wallet) => ({
          address: wallet.address,
          max_per_tx_usdc: formatAmount(wallet.maxPerTxMicro),
          daily_cap_usdc: formatAmount(wallet.dailyCapMicro),
          ...(isBound ? {} : { agent_id: wallet.agentId }),
        })),
      }
    },
  )
}
