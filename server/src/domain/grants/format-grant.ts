import { formatAmount } from '../../values/money.ts'
import type { PublicGrant } from './grant-schema.ts'
import type { Grant } from './grant.ts'

/** Formats a grant for events and the dashboard (D14). */
export function formatGrant(grant: Grant): PublicGrant {
  return {
    id: grant.id,
    agent_id: grant.agentId,
    wallet: grant.walletAddress,
    max_per_tx_usdc: formatAmount(grant.maxPerTxMicro),
    daily_cap_usdc: formatAmount(grant.dailyCapMicro),
    recipient_allowlist: grant.recipientAllowlist,
    contract_allowlist: grant.contractAllowlist,
    expires_at: grant.expiresAt?.toISOString() ?? null,
    x402: grant.x402,
    status: grant.status,
    created_at: grant.createdAt.toISOString(),
    activated_at: grant.activatedAt?.toISOString() ?? null,
    suspended_at: grant.suspendedAt?.toISOString() ?? null,
    revoked_at: grant.revokedAt?.toISOString() ?? null,
  }
}
