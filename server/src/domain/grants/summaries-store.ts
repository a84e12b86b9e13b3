import { computed, nullable, type RowOf } from '../../db/column.ts'
import { all, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import { spentSum, TERMS_OF_GRANT, windowStart } from './spent-window.ts'
import type { GrantSummary } from './grant.ts'
import { GRANT_COLUMNS, GRANT_ROW, toGrant } from './grants-store.ts'
import { otherSignersOf } from './pending-grants-store.ts'

export interface GrantFilter {
  readonly agentId: AgentId | null
  readonly wallet: Address | null
}

const SUMMARY_ROW = {
  ...GRANT_ROW,
  wallet_name: tables.wallets.name,
  activated_by_name: nullable(tables.users.name),
  is_mine: computed.bool,
  spent: nullable(computed.numeric),
  created_by_name: nullable(tables.users.name),
  is_by_former_member: computed.bool,
  other_signers: computed.textArray,
}

/**
 * The SQL for the summaries of the grants `g`. `$2` is the user who asks, and `$3` is the start of the 24-hour window.
 * Uses primary keys, `payments_in_window` and `unexplained_transfers_of_wallet`.
 */
const SUMMARIES = `g.*, w.name as wallet_name, u.name as activated_by_name,
    exists (
      select 1 from wallet_owners o join wallet_passkeys k on k.credential_id = o.credential_id
      where o.workspace_id = w.workspace_id and o.mode = w.mode and o.wallet_address = w.address and k.user_id = $2
    ) as is_mine,
    case when g.status <> 'revoked' then ${spentSum({ ...TERMS_OF_GRANT, since: '$3' })} end as spent,
    c.name as created_by_name, g.created_by is not null and m.user_id is null as is_by_former_member,
    case when g.status = 'pending' then ${otherSignersOf('g')} else '{}' end as other_signers
  from g
  join wallets w on w.workspace_id = g.workspace_id and w.mode = g.mode and w.address = g.wallet_address
  left join users u on u.id = g.activated_by
  left join users c on c.id = g.created_by
  left join members m on m.workspace_id = g.workspace_id and m.user_id = g.created_by`

/** Finds a grant's summary by the grant's id. Uses the primary key. */
export function findSummary(
  workspaceId: string,
  id: string,
  { userId, now }: { userId: string; now: Date },
): Query<GrantSummary | null> {
  return {
    name: 'find_grant_summary',
    text: `with g as (select ${GRANT_COLUMNS} from grants where workspace_id = $1 and id = $4) select ${SUMMARIES}`,
    values: [workspaceId, userId, windowStart(now), id],
    read: firstOrNull(SUMMARY_ROW, toSummary),
  }
}

/**
 * Lists summaries: first of the grants that are not revoked, with the index `grants_live_by_agent`, then of the revoked
 * ones, with `grants_listed`. Both groups are sorted newest first. They are read by two selects, so that the few grants
 * that are not revoked are found without reading all revoked ones.
 */
export function listSummaries(
  workspaceId: string,
  mode: Mode,
  {
    agentId,
    wallet,
    limit,
    userId,
    now,
  }: GrantFilter & { readonly limit: number; readonly userId: string; readonly now: Date },
): Query<GrantSummary[]> {
  const half = (status: string): string => `(
      select ${GRANT_COLUMNS} from grants
      where workspace_id = $1 and mode = $4 and status ${status} 'revoked'
        and ($5::text is null or agent_id = $5) and ($6::text is null or wallet_address = $6)
      order by id desc limit $7)`
  return {
    name: 'list_grant_summaries',
    text: `with g as (${half('<>')} union all ${half('=')})
      select ${SUMMARIES} order by g.status = 'revoked', g.id desc limit $7`,
    values: [workspaceId, userId, windowStart(now), mode, agentId, wallet, limit],
    read: all(SUMMARY_ROW, toSummary),
  }
}

function toSummary(row: RowOf<typeof SUMMARY_ROW>): GrantSummary {
  return {
    grant: toGrant(row),
    walletName: row.wallet_name,
    activatedByName: row.activated_by_name,
    spent24hMicro: row.spent === null ? null : microUsdc(BigInt(row.spent)),
    isMineToSign: row.is_mine,
    createdByName: row.created_by_name,
    isByFormerMember: row.is_by_former_member,
    otherSigners: row.other_signers,
  }
}
