import { textOfMode } from '../../db/bounded-scan-query.ts'
import { computed, nullable } from '../../db/column.ts'
import { all, changed, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'

/** A workspace and a mode. */
interface Place {
  readonly workspaceId: string
  readonly mode: Mode
}

export interface SumProgress {
  readonly workspaceId: string
  /** The newest hour with a sum, or null if there is none. */
  readonly newestHour: Date | null
  /** The first payment that is in no sum and is old enough for one, or null if there is none. */
  readonly firstUnsummedId: string | null
}

export interface ProgressPage {
  readonly mode: Mode
  /** Only workspaces with a higher id are listed. */
  readonly after: string
  readonly limit: number
  /** Payments with lower ids are never summed. It need not be the id of a payment. */
  readonly from: string
  /** Only payments with lower ids are old enough. It need not be the id of a payment. */
  readonly below: string
}

const progressText = textOfMode(
  'list_sum_progress',
  (mode) => `select a.id, newest.hour as newest_hour, first.id as first_unsummed_id
    from (select id from workspaces where id > $1 order by id limit $2) a
    left join lateral (
      select s.hour, s.below_id from hourly_sums s where s.workspace_id = a.id and s.mode = ${mode} and s.part = 'all'
      order by s.hour desc limit 1
    ) newest on true
    left join lateral (
      select p.id from payments p
      where p.workspace_id = a.id and p.mode = ${mode} and p.id < $4 and p.id >= greatest($3, newest.below_id)
      order by p.id limit 1
    ) first on true
    order by a.id`,
)

/**
 * Lists workspaces in the order of their ids, with the payment at which their next sum begins. Reads one row of each
 * table for a workspace, with the primary key of the workspaces, the primary key of the sums, and `payments_listed`.
 */
export function listSumProgress({ mode, after, limit, from, below }: ProgressPage): Query<SumProgress[]> {
  return {
    ...progressText(mode),
    values: [after, limit, from, below],
    read: all(
      {
        id: tables.workspaces.id,
        newest_hour: nullable(tables.hourly_sums.hour),
        first_unsummed_id: nullable(tables.payments.id),
      },
      (row) => ({ workspaceId: row.id, newestHour: row.newest_hour, firstUnsummedId: row.first_unsummed_id }),
    ),
  }
}

export interface HourToSum extends Place {
  /** The start of the hour. */
  readonly hour: Date
  /** The lowest id that a payment of the hour can have. */
  readonly from: string
  /** The lowest id that a payment of the next hour can have. */
  readonly below: string
  /** Older sums of the workspace are deleted. */
  readonly keptSince: Date
}

const sumText = textOfMode(
  'sum_hour',
  (mode) => `with made as materialized (
      select agent_id, wallet_address, to_address, id, kind, status, amount_micro from payments
      where workspace_id = $1 and mode = ${mode} and id >= $3 and id < $4
    ), old as (
      delete from hourly_sums where workspace_id = $1 and mode = ${mode} and hour < $5
        and part in ('all', 'agent', 'wallet', 'recipient', 'host', 'claimed_host', 'withdrawal')
    ), added as (
      insert into hourly_sums (workspace_id, mode, hour, part, name, spent_micro, confirmed, failed, below_id)
      select $1, ${mode}, $2, of.part, of.name,
        coalesce(sum(made.amount_micro) filter (where made.status = 'confirmed'), 0),
        count(*) filter (where made.status = 'confirmed'), count(*) filter (where made.status = 'failed'),
        case when of.part = 'all' then $4 end
      from made
      left join lateral (
        select host, payment_id, delivery is null as is_claimed from purchases
        where workspace_id = $1 and payment_id >= made.id and made.kind = 'x402'
        order by payment_id limit 1
      ) bought on bought.payment_id = made.id
      cross join lateral (values
        ('all', ''),
        ('withdrawal', case when made.agent_id is null then '' end),
        ('agent', made.agent_id),
        ('wallet', case when made.agent_id is not null then made.wallet_address end),
        ('recipient', case when made.agent_id is not null then made.to_address end),
        (case when bought.is_claimed then 'claimed_host' else 'host' end, bought.host)
      ) of (part, name)
      where of.name is not null and not exists (select 1 from made where status = 'pending')
      group by of.part, of.name
      on conflict do nothing returning 1
    )
    select exists (select 1 from added) as summed, (
      select id from payments where workspace_id = $1 and mode = ${mode} and id >= $4 order by id limit 1
    ) as next_id`,
)

/**
 * Stores what was spent in an hour: in total, by agent, by wallet, by recipient and by website, and what was withdrawn.
 * Stores nothing if a payment of the hour is pending, or if the hour is summed already. Returns whether it stored sums,
 * and the first payment after the hour. Deletes old sums of the workspace; their parts are named, so that the primary
 * key finds them. Reads each payment of the hour once, with the index `payments_listed`, and each purchase with the
 * primary key. It looks for the first purchase from the payment's id on, because PostgreSQL could otherwise read all
 * purchases of the workspace with another index (decision 0038).
 */
export function sumHour({ workspaceId, mode, hour, from, below, keptSince }: HourToSum): Query<{
  readonly isSummed: boolean
  readonly nextId: string | null
}> {
  return {
    ...sumText(mode),
    values: [workspaceId, hour, from, below, keptSince],
    read: one({ summed: computed.bool, next_id: nullable(computed.text) }, ({ summed, next_id: nextId }) => ({
      isSummed: summed,
      nextId,
    })),
  }
}

const deleteText = textOfMode(
  'delete_sums_since',
  (mode) => `delete from hourly_sums where workspace_id = $1 and mode = ${mode} and hour >= $2
      and part in ('all', 'agent', 'wallet', 'recipient', 'host', 'claimed_host', 'withdrawal')`,
)

/**
 * Deletes the sums of a workspace for an hour and all later ones. Returns whether there were any. Uses the primary key.
 */
export function deleteSumsSince({ workspaceId, mode, since }: Place & { readonly since: Date }): Query<boolean> {
  return { ...deleteText(mode), values: [workspaceId, since], read: changed }
}
