import { computed, narrow } from '../../db/column.ts'
import { one, type Query } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { DetailsOf } from '../../values/problem-details.ts'

/** Why an agent has no active grant on a wallet (D89). */
export type MissingGrantReason = DetailsOf<'permission_not_found'>['reason']

/** Why an agent can spend from no wallet. */
export type NoSpendableReason = MissingGrantReason | 'expired'

interface Holder {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: string
}

/**
 * Says why an agent has no active grant on a wallet. If it has several grants, the first of these decides: a suspended
 * one, a pending one, a revoked one. A grant that was signed or resumed after the payment was refused is reported as
 * pending. Uses the indexes `grants_live_by_agent` and `grants_revoked_by_agent`.
 */
export function findMissingGrantReason({
  workspaceId,
  mode,
  agentId,
  wallet,
}: Holder & { readonly wallet: Address }): Query<MissingGrantReason> {
  return {
    name: 'find_missing_grant_reason',
    text: `select case ${reasonsOf('agent_id = $3 and wallet_address = $4')} end as reason`,
    values: [workspaceId, mode, agentId, wallet],
    read: one({ reason: narrow<MissingGrantReason>(computed.text) }, ({ reason }) => reason),
  }
}

/**
 * Says why an agent can spend from no wallet at the time `now`, as `findMissingGrantReason` does for one wallet. An
 * expired grant decides first. Uses the same indexes.
 */
export function findNoSpendableReason({ workspaceId, mode, agentId }: Holder, now: Date): Query<NoSpendableReason> {
  const isExpired = existsGrant(`agent_id = $3 and status = 'active' and suspended_at is null and expires_at <= $4`)
  return {
    name: 'find_no_spendable_reason',
    text: `select case when ${isExpired} then 'expired' ${reasonsOf('agent_id = $3')} end as reason`,
    values: [workspaceId, mode, agentId, now],
    read: one({ reason: narrow<NoSpendableReason>(computed.text) }, ({ reason }) => reason),
  }
}

function reasonsOf(grants: string): string {
  return `when ${existsGrant(`${grants} and status = 'active' and suspended_at is not null`)} then 'suspended'
        when ${existsGrant(`${grants} and status <> 'revoked'`)} then 'pending'
        when ${existsGrant(`${grants} and status = 'revoked'`)} then 'revoked'
        else 'none'`
}

function existsGrant(condition: string): string {
  return `exists (select 1 from grants where workspace_id = $1 and mode = $2 and ${condition})`
}
