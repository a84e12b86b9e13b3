import { formatGrant } from '../domain/grants/format-grant.ts'
import { grantState } from '../domain/grants/grant-state.ts'
import type { GrantSummary } from '../domain/grants/grant.ts'
import { remainingMicro } from '../domain/grants/decide-limits.ts'
import { formatAmount } from '../values/money.ts'
import type { Grant } from './contract/grants.ts'

/**
 * Formats a grant as the dashboard shows it to one person: the same fields as in events (D14), how much of its 24-hour
 * limit is used, and the ids of the grants that it replaces and that replaced it.
 */
export function formatGrantDetail(summary: GrantSummary, now: Date): Grant {
  const { grant, spent24hMicro } = summary
  const left = spent24hMicro === null ? null : remainingMicro(grant.dailyCapMicro, spent24hMicro)
  return {
    ...formatGrant(grant),
    mode: grant.mode,
    wallet_name: summary.walletName,
    state: grantState(grant, now),
    spent_24h_usdc: spent24hMicro === null ? null : formatAmount(spent24hMicro),
    remaining_24h_usdc: left === null ? null : formatAmount(left),
    replaces: grant.replaces,
    replaced_by: grant.replacedBy,
    activated_by: summary.activatedByName,
    is_mine_to_sign: summary.isMineToSign,
    other_signers: [...summary.otherSigners],
    created_by: summary.createdByName,
    by_former_member: summary.isByFormerMember,
  }
}
