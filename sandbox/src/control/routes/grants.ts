import type { Account } from '../../../../server/src/domain/accounts/account.ts'
import { getAccount } from '../../../../server/src/domain/accounts/get-account.ts'
import { formatGrant } from '../../../../server/src/domain/grants/format-grant.ts'
import type { GrantAction } from '../../../../server/src/domain/grants/grant.ts'
import { openGrant, type OpenGrantRequest } from '../../../../server/src/domain/grants/open-grant.ts'
import { suspendGrant } from '../../../../server/src/domain/grants/suspend-grant.ts'
import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Problem } from '../../../../server/src/values/problem.ts'
import { Fields } from '../fields.ts'
import { idIn, slugIn } from '../path-fields.ts'
import { signGrant } from '../sign-grant.ts'
import type { ControlContext } from '../control-context.ts'

/** Grants, opened and signed as the owner of the wallet. */
export function addGrantRoutes(http: HttpServer, world: ControlContext): void {
  const { context, state } = world

  http.post('/workspaces/:slug/grants', async (request, reply) => {
    const account = await getAccount(context, slugIn(request))
    const fields = new Fields(request.body)
    const wanted = readGrant(fields, account)
    const isSigned = fields.flag('sign', true)
    const pending = await openGrant(context, wanted)
    state.update({ grants: { ...state.current.grants, [pending.id]: account.slug } })
    const grant = isSigned ? await signGrant(world, { account, grantId: pending.id, change: 'activate' }) : pending
    return reply.code(201).send({ grant: formatGrant(grant) })
  })

  const addSigning = (path: string, change: GrantAction): void => {
    http.post(path, async (request) => {
      const grantId = idIn(request)
      const account = await accountOf(world, grantId)
      return { grant: formatGrant(await signGrant(world, { account, grantId, change })) }
    })
  }
  addSigning('/grants/:id/sign', 'activate')
  addSigning('/grants/:id/revoke', 'revoke')

  // Needs no signature: stopping an agent must never wait (D15).
  http.post('/grants/:id/suspend', async (request) => {
    const grantId = idIn(request)
    const { id: accountId } = await accountOf(world, grantId)
    return { grant: formatGrant(await suspendGrant(context, { accountId, grantId })) }
  })
}

function readGrant(fields: Fields, account: Account): OpenGrantRequest {
  return {
    accountId: account.id,
    mode: fields.mode(),
    agentId: fields.agentId('agent_id'),
    wallet: fields.address('wallet'),
    maxPerTxMicro: fields.amount('max_per_tx_usdc'),
    dailyCapMicro: fields.amount('daily_cap_usdc'),
    recipientAllowlist: fields.addresses('recipient_allowlist') ?? [],
    contractAllowlist: fields.addresses('contract_allowlist'),
    expiresAt: fields.time('expires_at'),
  }
}

async function accountOf({ context, state }: ControlContext, grantId: string): Promise<Account> {
  const { grants } = state.current
  const slug = Object.hasOwn(grants, grantId) ? grants[grantId] : undefined
  if (slug === undefined) throw new Problem('not_found', 'No such grant.')
  return await getAccount(context, slug)
}
