import { computed, listOf, narrow, nullable, pick, type RowOf } from '../../db/column.ts'
import { changed, firstOrNull, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { ALLOWS_PAYMENTS, describeScope, type StopScope } from '../grants/stopped-grants-store.ts'
import { PENDING_COUNTED_MAX, type Stop, type StopCounts, type StopInForce } from './stop.ts'

const { stops, users, wallets } = tables

const STOP_ROW = {
  ...pick(stops, 'workspace_id', 'id'),
  mode: narrow<Mode>(stops.mode),
  agent_id: stops.agent_id,
  wallet_address: narrow<Address>(stops.wallet_address),
  ...pick(stops, 'created_at', 'created_by'),
}

const COLUMNS = listOf(STOP_ROW)

const IN_FORCE_ROW = {
  ...STOP_ROW,
  created_by_name: nullable(users.name),
  address: narrow<Address>(wallets.address),
  wallet_name: wallets.name,
  grants: computed.int8,
}

/** At most this many pairs of a stop in force and a wallet are listed. */
const LISTED_MAX = 5_000

/** Inserts a stop. Returns false if there is no such agent or wallet. Uses primary keys. */
export function insertStop(stop: Stop): Query<boolean> {
  return {
    name: 'insert_stop',
    text: `insert into stops (${COLUMNS})
      select $1::text, $2::text, $3::text, $4::text, $5::text, $6::timestamptz, $7::text
      where ($4::text is null or exists (
          select 1 from agents where workspace_id = $1 and mode = $3 and id = $4))
        and ($5::text is null or exists (
          select 1 from wallets where workspace_id = $1 and mode = $3 and address = $5))`,
    values: [stop.workspaceId, stop.id, stop.mode, stop.agentId, stop.walletAddress, stop.createdAt, stop.createdBy],
    read: changed,
  }
}

/** Uses the primary key. */
export function findStop(workspaceId: string, id: string): Query<Stop | null> {
  return {
    name: 'find_stop',
    text: `select ${COLUMNS} from stops where workspace_id = $1 and id = $2`,
    values: [workspaceId, id],
    read: firstOrNull(STOP_ROW, toStop),
  }
}

interface Place extends StopScope {
  readonly workspaceId: string
  readonly mode: Mode
}

/**
 * Counts what a stop of this scope would stop. Uses the indexes `grants_one_active_per_agent_and_wallet` and
 * `grants_by_wallet`.
 */
export function countStoppable({ workspaceId, mode, ...scope }: Place, now: Date): Query<StopCounts> {
  const { suffix, condition, values } = describeScope(scope, 4)
  return {
    name: `count_stoppable_of_${suffix}`,
    text: `select count(*) as grants, count(distinct g.agent_id) as agents, count(distinct g.wallet_address) as wallets
      from grants g where g.workspace_id = $1 and g.mode = $2 and ${ALLOWS_PAYMENTS} ${condition}`,
    values: [workspaceId, mode, now, ...values],
    read: one({ grants: computed.int8, agents: computed.int8, wallets: computed.int8 }, (row) => ({
      grants: Number(row.grants),
      agents: Number(row.agents),
      wallets: Number(row.wallets),
    })),
  }
}

/**
 * Counts the pending payments of a scope among the oldest `PENDING_COUNTED_MAX` pending payments. Uses the index
 * `payments_holding_balance`.
 */
export function countUnderWay({ workspaceId, mode, ...scope }: Place): Query<number> {
  const { suffix, condition, values } = describeScope(scope, 4)
  return {
    name: `count_payments_under_way_of_${suffix}`,
    text: `select count(*) as payments from (
        select p.agent_id, p.wallet_address, p.kind from payments p
        where p.workspace_id = $1 and p.mode = $2 and p.settled_at is null limit $3) g
      where g.kind <> 'withdrawal' ${condition}`,
    values: [workspaceId, mode, PENDING_COUNTED_MAX, ...values],
    read: one({ payments: computed.int8 }, (row) => Number(row.payments)),
  }
}

/**
 * Lists the stops that keep grants suspended which have not expired, the newest first, each with its wallets. The grants
 * are read once, because they are materialized. Uses the index `grants_stopped` and primary keys.
 */
export function listStopsInForce(
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
  now: Date,
): Query<StopInForce[]> {
  return {
    name: 'list_stops_in_force',
    text: `with g as materialized (
        select stop_id, wallet_address, count(*) as grants from grants
        where workspace_id = $1 and mode = $2 and stop_id is not null and status = 'active' and suspended_at is not null
          and (expires_at is null or expires_at > $3)
        group by stop_id, wallet_address order by stop_id desc, wallet_address limit $4)
      select s.workspace_id, s.id, s.mode, s.agent_id, s.wallet_address, s.created_at, s.created_by,
        u.name as created_by_name, w.address, w.name as wallet_name, g.grants
      from g
      join stops s on s.workspace_id = $1 and s.id = g.stop_id
      join wallets w on w.workspace_id = $1 and w.mode = $2 and w.address = g.wallet_address
      left join users u on u.id = s.created_by
      order by s.id desc, w.address`,
    values: [workspaceId, mode, now, LISTED_MAX],
    read: rowsOf(IN_FORCE_ROW, (rows) => {
      const byStop = Map.groupBy(rows, ({ id }) => id)
      return [...byStop.values()].flatMap((of) => {
        const [first] = of
        if (first === undefined) return []
        const stopped = of.map((row) => ({ address: row.address, name: row.wallet_name, grants: Number(row.grants) }))
        return [{ stop: toStop(first), createdByName: first.created_by_name, wallets: stopped }]
      })
    }),
  }
}

function toStop(row: RowOf<typeof STOP_ROW>): Stop {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    mode: row.mode,
    agentId: row.agent_id,
    walletAddress: row.wallet_address,
    createdAt: row.created_at,
    createdBy: row.created_by,
  }
}
