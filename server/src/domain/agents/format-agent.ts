import { formatAmount } from '../../values/money.ts'
import type { Agent } from './agent.ts'
import type { PublicAgent } from './agent-schema.ts'
import { remainingMicro } from '../grants/decide-limits.ts'

/** Formats an agent, with what it may spend now (D8, D9), for `/v1` and the dashboard. */
export function formatAgent(agent: Agent): Omit<PublicAgent, 'account_slug'> {
  return {
    id: agent.id,
    status: agent.activeSigners > 0 ? 'active' : 'no_permissions',
    mode: agent.mode,
    created_at: agent.createdAt.toISOString(),
    active_signers: agent.activeSigners,
    pending_signers: agent.pendingSigners,
    wallets: agent.wallets.map((wallet) => ({
      address: wallet.address,
      max_per_tx_usdc: formatAmount(wallet.maxPerTxMicro),
      daily_cap_usdc: formatAmount(wallet.dailyCapMicro),
      spent_24h_usdc: formatAmount(wallet.spent24hMicro),
      remaining_24h_usdc: formatAmount(remainingMicro(wallet.dailyCapMicro, wallet.spent24hMicro)),
      expires_at: wallet.expiresAt?.toISOString() ?? null,
    })),
  }
}
