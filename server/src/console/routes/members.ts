import { listPendingGrants } from '../../domain/grants/queries.ts'
import { listWalletsOfOwner } from '../../domain/wallets/queries.ts'
import { listConnections } from '../../domain/connections/queries.ts'
import { listKeysOfMaker } from '../../domain/keys/queries.ts'
import { changeRole, removeMember } from '../../domain/members/change-membership.ts'
import { listInvitationsBy, listMembers } from '../../domain/members/queries.ts'
import type { KeysLeftBehind } from '../../domain/members/change-membership.ts'
import type { MadeKey } from '../../domain/keys/api-key.ts'
import { identityHostOf } from '../../domain/connections/client.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { ConsoleContext } from '../console-context.ts'
import { MEMBER_ROUTES, type KeysLeftBehind as KeysView, type MadeKey as KeyView } from '../contract/members.ts'
import { currentMembership } from '../current-membership.ts'
import { getCurrentSession } from '../current-session.ts'

export function addMemberRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...MEMBER_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const members = await listMembers(ctx, { workspaceId: workspace.id })
      return {
        members: members.map(({ userId, name, role, createdAt }) => ({
          user_id: userId,
          name,
          role,
          created_at: createdAt.toISOString(),
        })),
      }
    },
  })

  http.route({
    ...MEMBER_ROUTES.listBelongings,
    handler: async (request) => {
      const { id: workspaceId } = currentMembership(request).workspace
      const userId = parseUserId(request.params.user_id)
      const member = { workspaceId, userId }
      const [keys, connections, invitations, wallets, grants] = await Promise.all([
        listKeysOfMaker(ctx, member),
        listConnections(ctx, member),
        listInvitationsBy(ctx, member),
        listWalletsOfOwner(ctx, member),
        listPendingGrants(ctx, member),
      ])
      return {
        keys: keys.map((key) => ({
          ...formatMadeKey(key),
          created_at: key.createdAt.toISOString(),
          last_used_at: key.lastUsedAt?.toISOString() ?? null,
        })),
        connections: connections.map(({ id, client, mode, agentId }) => ({
          id,
          mode,
          client_name: identityHostOf(client) ?? client.name,
          agent_id: agentId,
        })),
        invitations: invitations.map(({ id, role, expiresAt }) => ({ id, role, expires_at: expiresAt.toISOString() })),
        wallets: wallets.map(({ otherSigners, passkeys, ...wallet }) => ({
          ...wallet,
          passkeys: [...passkeys],
          other_signers: [...otherSigners],
        })),
        grants: grants.map(({ id, mode, agentId, walletName, isPrepared, otherSigners }) => ({
          id,
          mode,
          agent_id: agentId,
          wallet_name: walletName,
          is_prepared: isPrepared,
          other_signers: [...otherSigners],
        })),
      }
    },
  })

  http.route({
    ...MEMBER_ROUTES.changeRole,
    handler: async (request) => {
      const membership = currentMembership(request)
      const userId = parseUserId(request.params.user_id)
      const keys = await changeRole(ctx, {
        membership,
        session: getCurrentSession(request),
        userId,
        role: request.body.role,
        keepKeys: request.body.keep_keys ?? [],
      })
      return formatKeysLeftBehind(keys)
    },
  })

  http.route({
    ...MEMBER_ROUTES.remove,
    handler: async (request) => {
      const membership = currentMembership(request)
      const userId = parseUserId(request.params.user_id)
      const keepKeys = request.query.keep_keys?.split(',') ?? []
      const keys = await removeMember(ctx, { membership, session: getCurrentSession(request), userId, keepKeys })
      return formatKeysLeftBehind(keys)
    },
  })
}

function parseUserId(text: string): string {
  if (!isId('user', text)) throw problem('member_not_found')
  return text
}

function formatKeysLeftBehind({ revoked, kept }: KeysLeftBehind): KeysView {
  return { keys_revoked: revoked.map(formatMadeKey), keys_kept: kept.map(formatMadeKey) }
}

function formatMadeKey({ id, mode, name, agentId, last4 }: MadeKey): KeyView {
  return { id, mode, name, agent_id: agentId, last4 }
}
