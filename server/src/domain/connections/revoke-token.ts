import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { revokeByAccessToken, revokeByRefreshToken } from './connections-store.ts'

/**
 * Revokes the connection of an access token or refresh token, including a refresh token that was already used (RFC
 * 7009; specification, part 4). If the token is unknown or belongs to a client other than `clientId`, does nothing and
 * does not fail. If `clientId` is null, every client matches.
 */
export async function revokeToken(
  ctx: Pick<Context, 'db' | 'clock'>,
  { token, clientId }: { token: string; clientId: string | null },
): Promise<void> {
  const revokeBy = revocationOf(token)
  if (revokeBy === null) return
  const now = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const revoked = await transaction.run(revokeBy(hashSecret(token), clientId, now))
    if (revoked === null) return
    await transaction.commit([
      insertAuditEntry({
        logId: revoked.workspaceId,
        createdAt: now,
        actor: { kind: 'client', id: revoked.clientId },
        action: 'connection.revoked',
        subject: revoked.id,
      }),
    ])
  })
}

/** The prefix of a token shows its type, so a wrong `token_type_hint` has no effect (RFC 7009, section 2.1). */
function revocationOf(token: string): typeof revokeByAccessToken | null {
  if (isSecret(SECRET_PREFIXES.accessToken, token)) return revokeByAccessToken
  return isSecret(SECRET_PREFIXES.refreshToken, token) ? revokeByRefreshToken : null
}
