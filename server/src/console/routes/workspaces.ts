import { createWorkspace } from '../../domain/members/create-workspace.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { Mode } from '../../values/mode.ts'
import { checkName } from '../../values/name.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatWorkspace } from '../format-session.ts'
import { NameBody, SlugParams } from '../schemas.ts'
import { getVisitor } from '../visitor.ts'

export function addWorkspaceRoutes(http: HttpServer, door: Door): void {
  http.post('/console/workspaces', { schema: { body: NameBody } }, async (request, reply) => {
    const { userId } = getVisitor(request)
    const membership = await createWorkspace(door.ctx, { userId, name: checkName(request.body.name) })
    return reply.code(201).send({ workspace: formatWorkspace(membership) })
  })

  http.get('/console/workspaces/:slug', { schema: { params: SlugParams } }, async (request) => {
    const membership = await membershipOf(door, request, 'viewer')
    return {
      workspace: {
        ...formatWorkspace(membership),
        plan: membership.account.plan,
        base_url: door.baseUrl,
        chains: { test: formatChain(door, 'test'), live: formatChain(door, 'live') },
      },
    }
  })
}

function formatChain({ ctx, explorerUrls, faucet }: Door, mode: Mode) {
  const { chainId, usdc } = ctx.chains[mode]
  const ofMode = mode === 'test' ? faucet : null
  return {
    chain_id: chainId,
    usdc,
    explorer_url: explorerUrls[mode],
    // Where our own endpoint asks is nobody's business.
    faucet: ofMode?.kind === 'endpoint' ? { kind: ofMode.kind } : ofMode,
  }
}
