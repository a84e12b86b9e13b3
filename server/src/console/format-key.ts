import { keyStateOf, type KeySummary } from '../domain/keys/api-key.ts'
import type { IssuedKey } from '../domain/keys/issue-key.ts'
import type { Session } from '../domain/sessions/session.ts'
import type { ApiKey, IssuedApiKey } from './contract/keys.ts'

export function formatKey(key: KeySummary, now: Date): ApiKey {
  return {
    id: key.id,
    mode: key.mode,
    name: key.name,
    agent_id: key.agentId,
    scopes: key.scopes === null ? null : [...key.scopes],
    last4: key.last4,
    created_at: key.createdAt.toISOString(),
    created_by: key.createdByName,
    by_former_member: key.isByFormerMember,
    grace_until: key.graceUntil?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    state: keyStateOf(key, now),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  }
}

/**
 * Formats a new key. This is the only response that contains the secret. The function reads nothing from the database,
 * because the secret would be lost if the read failed.
 */
export function formatIssuedKey({ key, secret }: IssuedKey, { userName }: Session): IssuedApiKey {
  return {
    key: formatKey({ ...key, createdByName: userName, isByFormerMember: false, lastUsedAt: null }, key.createdAt),
    secret,
  }
}
