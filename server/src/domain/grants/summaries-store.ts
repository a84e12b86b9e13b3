import { computed, nullable, type RowOf } from '../../db/column.ts'
import { all, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import { windowStart } from '../agents/agent.ts'
import type { GrantSummary } from './grant.ts'
import { COLUMNS, GRANT_ROW, toGrant } from './grants-store.ts'

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
}

/**
 * The summaries of the grants `g`; `$2` is the user who asks, `$3` the start of the window. Uses primary keys and
 * `payments_in_window`.
 */
const SUMMARIES = `g.*, w.name as wallet_name, u.name as activated_by_name,
    exists (
      select 1 from passkeys k
      where k.credential_id = w.owner_credential_id and k.public_key_cose = w.owner_public_key and k.user_id = $2
    ) as is_mine,
    case when g.status <> 'revoked' then (
      select coalesce(sum(p.amount_micro), 0) from payments p
      where p.account_id = g.account_id and p.mode = g.mode and p.wallet_address = g.wallet_address
        and p.agent_id = g.agent_id and p.created_at > $3 and p.status <> 'failed'
    ) end as spent
  from g
  join wallets w on w.account_id = g.account_id and w.mode = g.mode and w.address = g.wallet_address
  left join users u on u.id = g.activated_by`

/** Uses the primary key. */
export function findSummary(
  accountId: string,
  id: string,
  { userId, now }: { userId: string; now: Date },
): Query<GrantSummary | null> {
  return {
    name: 'find_grant_summary',
    text: `with g as (select ${COLUMNS} from grants where account_id = $1 and id = $4) select ${SUMMARIES}`,
    values: [accountId, userId, windowStart(now), id],
    read: firstOrNull(SUMMARY_ROW, toSummary),
  }
}

/**
 * Grants that are not revoked come first, by `grants_live_by_agent`, then revoked ones, by `grants_listed`; each part
 * with the newest first. They are two selects, so that years of revoked grants are not read to find the few others.
 */
export function listSummaries(
  accountId: string,
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
      select ${COLUMNS} from grants
      where account_id = $1 and mode = $4 and status ${status} 'revoked'
        and ($5::text is null or agent_id = $5) and ($6::text is null or wallet_address = $6)
      order by id desc limit $7)`
  return {
    name: 'list_grant_summaries',
    text: `with g as (${half('<>')} union all ${half('=')})
      select ${SUMMARIES} order by g.status = 'revoked', g.id desc limit $7`,
    values: [accountId, userId, windowStart(now), mode, agentId, wallet, limit],
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
  }
}
