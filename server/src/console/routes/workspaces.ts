import { createWorkspace } from '../../domain/members/create-workspace.ts'
import { renameWorkspace } from '../../domain/workspaces/rename-workspace.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { Mode } from '../../values/mode.ts'
import { checkName } from '../../values/name.ts'
import type { Faucet } from '../../values/chains.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WORKSPACE_ROUTES, type ChainInfo } from '../contract/workspaces.ts'
import { currentMembership, memberOf } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'
import { formatWorkspace } from '../format-session.ts'

export function addWorkspaceRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...WORKSPACE_ROUTES.create,
    handler: async (request, reply) => {
      const { userId } = getCurrentSession(request)
      const membership = await createWorkspace(ctx, { userId, name: checkName(request.body.name) })
      return reply.code(201).send({ workspace: formatWorkspace(membership) })
    },
  })

  http.route({
    ...WORKSPACE_ROUTES.rename,
    handler: async (request) => {
      const membership = currentMembership(request)
      const { workspaceId, actor } = memberOf(request)
      const name = await renameWorkspace(ctx, { workspaceId, name: request.body.name, actor })
      return { workspace: { ...formatWorkspace(membership), name } }
    },
  })

  http.route({
    ...WORKSPACE_ROUTES.get,
    handler: async (request) => {
      const membership = currentMembership(request)
      return {
        workspace: {
          ...formatWorkspace(membership),
          plan: membership.workspace.plan,
          base_url: consoleContext.baseUrl,
          chains: { test: formatChain(consoleContext, 'test'), live: formatChain(consoleContext, 'live') },
        },
      }
    },
  })
}

function formatChain({ ctx, explorerUrls, faucet }: ConsoleContext, mode: Mode): ChainInfo {
  const { chainId, usdc } = ctx.chains[mode]
  const ofMode = mode === 'test' ? faucet : null
  return {
    chain_id: chainId,
    usdc,
    explorer_url: explorerUrls[mode],
    faucet: ofMode === null ? null : formatFaucet(ofMode),
  }
}

/** Leaves out the URL of an `endpoint`, because only our server calls it. */
function formatFaucet({ kind, url }: Faucet): ChainInfo['faucet'] {
  return kind === 'endpoint' ? { kind } : { kind, url }
}
