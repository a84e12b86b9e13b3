import { textOfMode } from '../../../db/bounded-scan-query.ts'
import { computed, nullable } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import { tables } from '../../../db/tables.ts'
import type { Mode } from '../../../values/mode.ts'
import type { SpendingRow } from './spending.ts'

export interface AgentRecipientsRange {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: string
  /** The start and the end of the period before, then those of the period. */
  readonly boundaries: readonly [Date, Date, Date, Date]
  /** Payments with these ids are read: `from` is included, and `below` is not. There need not be payments with them. */
  readonly from: string
  readonly below: string
  readonly paymentsMax: number
  readonly rowsMax: number
}

const RECIPIENT_ROW = {
  name: nullable(computed.text),
  label: nullable(tables.recipients.label),
  spent: computed.numeric,
  previous: computed.numeric,
  payments: computed.numeric,
  names: computed.int8,
}

const recipientsText = textOfMode(
  'sum_agent_recipients',
  (mode) => `with own as materialized (
      select to_address, status, amount_micro, width_bucket(created_at, $5::timestamptz[]) as bucket from payments
      where workspace_id = $1 and mode = ${mode} and agent_id = $2 and id >= $3 and id < $4 order by id limit $6
    ), sums as materialized (
      select to_address, coalesce(sum(amount_micro) filter (where bucket = 3), 0) as spent,
        coalesce(sum(amount_micro) filter (where bucket = 1), 0) as previous,
        count(*) filter (where bucket = 3) as payments
      from own where status <> 'failed' and bucket in (1, 3) and (select count(*) from own) < $6 group by to_address
    ), ranked as materialized (
      select *, row_number() over (order by spent desc, previous desc, to_address) as rank from sums
    ), shown as materialized (
      select case when rank <= $7 then to_address end as name, sum(spent) as spent, sum(previous) as previous,
        sum(payments) as payments, count(*) as names, min(rank) as rank
      from ranked group by 1
    )
    select s.name, r.label, s.spent, s.previous, s.payments, s.names from shown s
    left join recipients r on r.workspace_id = $1 and r.mode = ${mode} and r.address = s.name
    order by s.rank`,
)

/**
 * Sums what one agent spent, by recipient: the highest sums first, and the sum of all that are not shown last. Returns
 * nothing if there are `paymentsMax` payments or more. Reads the agent's payments of both periods with the index
 * `payments_of_agent`.
 */
export function sumAgentRecipients(range: AgentRecipientsRange): Query<SpendingRow[]> {
  const { workspaceId, mode, agentId, boundaries, from, below, paymentsMax, rowsMax } = range
  return {
    ...recipientsText(mode),
    values: [workspaceId, agentId, from, below, boundaries, paymentsMax, rowsMax],
    read: all(RECIPIENT_ROW, (row) => ({
      name: row.name,
      label: row.label,
      isClaimed: false,
      spentMicro: BigInt(row.spent),
      previousMicro: BigInt(row.previous),
      payments: Number(row.payments),
      names: Number(row.names),
    })),
  }
}
