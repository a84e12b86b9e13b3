import { all, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import { windowStart } from '../agents/agent.ts'
import type { GrantSummary } from './grant.ts'
import { COLUMNS, toGrant } from './grants-store.ts'

export interface GrantFilter {
  readonly agentId: AgentId | null
  readonly wallet: Address | null
}

/** Of the rows `g`; `$2` is who asks, `$3` the start of the window. By primary keys and `payments_in_window`. */
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

/** By the primary key. */
export function findSummary(
  accountId: string,
  id: string,
  { userId, now }: { userId: string; now: Date },
): Query<GrantSummary | null> {
  return {
    name: 'find_grant_summary',
    text: `with g as (select ${COLUMNS} from grants where account_id = $1 and id = $4) select ${SUMMARIES}`,
    values: [accountId, userId, windowStart(now), id],
    read: firstOrNull(toSummary),
  }
}

/**
 * Those that are not revoked, by `grants_live_by_agent`, then the others, by `grants_listed`; the newest first. In two
 * halves, so that the many that were revoked in years are not read for the few that hold.
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
    read: all(toSummary),
  }
}

function toSummary(row: Row): GrantSummary {
  return {
    grant: toGrant(row),
    walletName: row['wallet_name'],
    activatedByName: row['activated_by_name'],
    spent24hMicro: row['spent'] === null ? null : microUsdc(BigInt(row['spent'])),
    isMineToSign: row['is_mine'],
  }
}
