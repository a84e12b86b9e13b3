import { keyStateOf, type KeySummary } from '../domain/keys/api-key.ts'
import type { ApiKey } from './contract/keys.ts'

export function formatKey(key: KeySummary, now: Date): ApiKey {
  return {
    id: key.id,
    mode: key.mode,
    name: key.name,
    created_at: key.createdAt.toISOString(),
    created_by: key.createdByName,
    grace_until: key.graceUntil?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    state: keyStateOf(key, now),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  }
}
