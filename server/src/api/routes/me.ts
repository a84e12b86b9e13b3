import { Readable } from 'node:stream'
import type { SpendableGrant } from '../../domain/agents/agent.ts'
import { listSpendable, walkSpendable } from '../../domain/agents/queries.ts'
import type { Context } from '../../domain/context.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { formatAmount } from '../../values/money.ts'
import { callerOf, type Caller } from '../caller.ts'
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
    async (request, reply) => {
      const caller = callerOf(request)
      const identity = formatIdentity(caller, ctx.clock.now())
      const grants = await listSpendable(ctx, caller)
      if (grants !== null) return { ...identity, wallets: grants.map((grant) => formatWallet(grant, caller)) }
      const pages = walkSpendable(ctx, caller)
      // The first page is read before the response begins, so that an error can still be sent with its status.
      const text = writeIdentity(identity, await pages.next(), pages, caller)
      return reply.type('application/json; charset=utf-8').send(Readable.from(text, { objectMode: false }))
    },
  )
}

function formatIdentity(caller: Caller, now: Date) {
  return {
    auth_type: caller.authType,
    account_slug: caller.workspaceSlug,
    account_name: caller.workspaceName,
    mode: caller.mode,
    scopes: caller.scopes,
    agent_id: caller.agentId,
    expires_at: caller.expiresAt?.toISOString() ?? null,
    server_time: now.toISOString(),
  }
}

function formatWallet(grant: SpendableGrant, caller: Caller) {
  return {
    address: grant.address,
    max_per_tx_usdc: formatAmount(grant.maxPerTxMicro),
    daily_cap_usdc: formatAmount(grant.dailyCapMicro),
    ...(caller.agentId === null ? { agent_id: grant.agentId } : {}),
  }
}

/**
 * Writes the identity in pieces, one for each page of grants. So a long list does not hold up other requests, and is
 * never in memory as a whole.
 */
async function* writeIdentity(
  identity: ReturnType<typeof formatIdentity>,
  first: IteratorResult<readonly SpendableGrant[], void>,
  pages: AsyncIterator<readonly SpendableGrant[], void>,
  caller: Caller,
): AsyncGenerator<string, void, undefined> {
  // `wallets` is the last member, so each page of grants can be appended to the text.
  yield `${JSON.stringify(identity).slice(0, -1)},"wallets":[`
  let separator = ''
  for (let page = first; page.done !== true; page = await pages.next()) {
    if (page.value.length === 0) continue
    yield separator + page.value.map((grant) => JSON.stringify(formatWallet(grant, caller))).join(',')
    separator = ','
  }
  yield ']}'
}
