import { computed } from '../../db/column.ts'
import { all, type Query } from '../../db/query.ts'
import { textOfMode } from '../../db/bounded-scan-query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { SearchedParts } from '../search/resolve-search.ts'
import type { ListedRefusal } from './refusal.ts'
import { COLUMNS, REFUSAL_ROW, toRefusal } from './refusals-store.ts'

/** The conditions for the refusals of a list, and one page of it. */
export interface RefusalSelection extends SearchedParts {
  readonly workspaceId: string
  readonly mode: Mode
  /** The lowest id. It need not be the id of a refusal. */
  readonly from: string
  /** All ids are lower than this. It need not be the id of a refusal. */
  readonly below: string
  readonly agentId: string | null
  readonly wallet: Address | null
  readonly recipient: Address | null
  readonly code: string | null
  readonly minMicro: MicroUsdc
  readonly maxMicro: MicroUsdc
  /** Whether identical refusals are listed once. */
  readonly isGrouped: boolean
  /** Only refusals with a lower id than this are on the page; of identical refusals, the newest one counts. */
  readonly pageBelow: string
  readonly limit: number
  /** At most this many refusals are read, the newest first. */
  readonly scanRowsMax: number
}

const LISTED_ROW = { ...REFUSAL_ROW, times: computed.int8, first_at: computed.timestamptz }

const listText = textOfMode(
  'list_payment_refusals',
  (mode) => `with matched as materialized (
      select id, agent_id, wallet_address, to_address, amount_usdc, code, resource_url, created_at from (
        select id, agent_id, wallet_address, to_address, amount_usdc, memo, idempotency_key, code, resource_url, created_at
        from payment_refusals where workspace_id = $1 and mode = ${mode} and id >= $2 and id < $3
        order by id desc limit $17::bigint
      ) looked_at
      where ($4::text is null or agent_id = $4) and ($5::text is null or wallet_address = $5)
        and ($6::text is null or lower(to_address) = $6) and ($7::text is null or code = $7)
        and amount_usdc::numeric * 1000000 >= $8 and amount_usdc::numeric * 1000000 <= $9
        and ($10::text is null or lower(to_address) like $10 or lower(wallet_address) like $10)
        and ($11::text is null or memo ~ $11 or agent_id ~ $11 or idempotency_key ~ $11 or resource_url ~ $11
          or lower(to_address) in (select unnest($12::text[])) or amount_usdc::numeric * 1000000 = $13)
    ), page as materialized (
      select max(id) as newest_id, count(*) as times, min(created_at) as first_at from matched
      group by agent_id, wallet_address, to_address, amount_usdc, code, resource_url, case when not $14 then id end
      having max(id) < $15 order by newest_id desc limit $16::bigint
    )
    select ${COLUMNS}, times, first_at from page
    cross join lateral (select ${COLUMNS} from payment_refusals where workspace_id = $1 and id = newest_id offset 0) newest
    order by id desc`,
)

/**
 * Lists refusals, newest first. Reads all refusals that the workspace has in the range, which are few by design. Uses
 * the index `payment_refusals_listed` and the primary key.
 */
export function listRefusalRows(selection: RefusalSelection): Query<ListedRefusal[]> {
  const { workspaceId, mode, from, below, agentId, wallet, recipient, code, minMicro, maxMicro } = selection
  const { hexLike, textPattern, recipients, amountMicro, isGrouped, pageBelow, limit, scanRowsMax } = selection
  return {
    ...listText(mode),
    values: [
      ...[workspaceId, from, below, agentId, wallet, recipient?.toLowerCase() ?? null, code, minMicro, maxMicro],
      ...[hexLike, textPattern, recipients, amountMicro, isGrouped, pageBelow, limit, scanRowsMax],
    ],
    read: all(LISTED_ROW, ({ times, first_at: firstAt, ...row }) => ({
      ...toRefusal(row),
      times: Number(times),
      firstAt,
    })),
  }
}
