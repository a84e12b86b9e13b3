import { formatAmount } from '../../../values/money.ts'
import { remainingMicro } from '../../grants/decide-limits.ts'
import type { PublicWalletBudget } from './wallet-budget-schema.ts'
import type { GrantBudget, WalletBudget } from './wallet-budget.ts'

/** Formats a wallet with what agents may spend from it, for `/v1` (D54). */
export function formatWalletBudget(wallet: WalletBudget): PublicWalletBudget {
  return {
    address: wallet.address,
    name: wallet.name,
    mode: wallet.mode,
    balance_usdc: wallet.balanceMicro === null ? null : formatAmount(wallet.balanceMicro),
    grants: wallet.grants.map(formatGrantBudget),
  }
}

function formatGrantBudget(grant: GrantBudget): PublicWalletBudget['grants'][number] {
  // Under a grant that is not active, the agent can pay nothing.
  const leftMicro = grant.state === 'active' ? remainingMicro(grant.dailyCapMicro, grant.spent24hMicro) : 0n
  return {
    grant_id: grant.id,
    agent_id: grant.agentId,
    state: grant.state,
    max_per_tx_usdc: formatAmount(grant.maxPerTxMicro),
    daily_cap_usdc: formatAmount(grant.dailyCapMicro),
    spent_24h_usdc: formatAmount(grant.spent24hMicro),
    remaining_24h_usdc: formatAmount(leftMicro),
    recipients: grant.recipients.map(({ address, label }) => ({ address, label })),
    expires_at: grant.expiresAt?.toISOString() ?? null,
    x402: grant.x402,
  }
}
