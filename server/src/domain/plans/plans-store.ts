import { computed, pick } from '../../db/column.ts'
import { changed, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { MODES, type Mode } from '../../values/mode.ts'

const { int8 } = computed
const USE_ROW = {
  ...{ used: int8, test_agents: int8, live_agents: int8, test_wallets: int8, live_wallets: int8 },
  ...{ test_answers: int8, live_answers: int8, test_responses: int8, live_responses: int8 },
  ...{ test_refusals: int8, live_refusals: int8 },
}

export interface UsedOfPlan {
  /** Live payments of the month that count against the allowance. */
  readonly allowance: number
  readonly agents: Readonly<Record<Mode, number>>
  readonly wallets: Readonly<Record<Mode, number>>
  /** The responses of sellers that are kept, and the room that is reserved for others. */
  readonly answerBytes: Readonly<Record<Mode, number>>
  /** The responses of webhook receivers, and the rejected requests. */
  readonly responseBytes: Readonly<Record<Mode, number>>
  readonly refusalBytes: Readonly<Record<Mode, number>>
}

const usedBytes = (kind: string, mode: Mode): string => `coalesce((select used_bytes from stored_bytes
          where workspace_id = $1 and mode = '${mode}' and kind = '${kind}'), 0) as ${mode}_${kind}`

/** Uses the primary keys. */
export function findPlanUse(workspaceId: string, month: string): Query<UsedOfPlan> {
  return {
    name: 'find_plan_use',
    text: `select coalesce((select used from allowances where workspace_id = $1 and month = $2), 0) as used,
        (select count(*) from agents where workspace_id = $1 and mode = 'test' and deleted_at is null) as test_agents,
        (select count(*) from agents where workspace_id = $1 and mode = 'live' and deleted_at is null) as live_agents,
        (select count(*) from wallets where workspace_id = $1 and mode = 'test') as test_wallets,
        (select count(*) from wallets where workspace_id = $1 and mode = 'live') as live_wallets,
        ${['answers', 'responses', 'refusals'].flatMap((kind) => MODES.map((mode) => usedBytes(kind, mode))).join()}`,
    values: [workspaceId, month],
    read: one(USE_ROW, (row) => ({
      allowance: Number(row.used),
      agents: { test: Number(row.test_agents), live: Number(row.live_agents) },
      wallets: { test: Number(row.test_wallets), live: Number(row.live_wallets) },
      answerBytes: { test: Number(row.test_answers), live: Number(row.live_answers) },
      responseBytes: { test: Number(row.test_responses), live: Number(row.live_responses) },
      refusalBytes: { test: Number(row.test_refusals), live: Number(row.live_refusals) },
    })),
  }
}

/** Returns how much of the month's allowance is used, without locking it. Uses the primary key. */
export function findUsedAllowance(workspaceId: string, month: string): Query<number> {
  return {
    name: 'find_used_allowance',
    text: 'select used from allowances where workspace_id = $1 and month = $2',
    values: [workspaceId, month],
    read: rowsOf(pick(tables.allowances, 'used'), ([row]) => Number(row?.used ?? 0)),
  }
}

/** Makes sure that there is a row for the month's allowance, so that the row can be locked. */
export function ensureAllowance(workspaceId: string, month: string): Query<boolean> {
  return {
    name: 'ensure_allowance',
    text: 'insert into allowances (workspace_id, month) values ($1, $2) on conflict do nothing',
    values: [workspaceId, month],
    read: changed,
  }
}

/** The months of several workspaces, and for each index how much of the allowance is used. */
type Allowances = readonly { readonly workspaceId: string; readonly month: string }[]
type UsedByPosition = ReadonlyMap<number, number>

/**
 * Locks the rows of allowances in the given order, so that their counts are exact. Waits for other transactions. Returns
 * how much of each is used, by its index. An allowance without a row is left out. Because the subquery locks rows, the
 * planner does not merge it with the outer query. So each allowance is looked up by the primary key.
 */
export function lockAllowances(allowances: Allowances): Query<UsedByPosition> {
  return {
    name: 'lock_allowances',
    text: lockText('for update'),
    values: [allowances.map(({ workspaceId }) => workspaceId), allowances.map(({ month }) => month)],
    read: rowsOf({ position: int8, ...pick(tables.allowances, 'used') }, (rows) => {
      return new Map(rows.map((row) => [Number(row.position) - 1, Number(row.used)]))
    }),
  }
}

/** Locks what `lockAllowances` locks, but never waits: a row that another transaction has locked is left out. */
export function lockFreeAllowances(allowances: Allowances): Query<UsedByPosition> {
  return { ...lockAllowances(allowances), name: 'lock_free_allowances', text: lockText('for update skip locked') }
}

function lockText(ending: string): string {
  return `select r.position, l.used
      from unnest($1::text[], $2::date[]) with ordinality as r (workspace_id, month, position)
      cross join lateral (select used from allowances where workspace_id = r.workspace_id and month = r.month ${ending}) l`
}

/**
 * Adds `count`, which may be negative, to the used part of the month's allowance. The result is never below zero, even
 * if the operator has lowered the count in between.
 */
export function addToAllowance(workspaceId: string, month: string, count: number): Query<boolean> {
  return {
    name: 'add_to_allowance',
    text: 'update allowances set used = greatest(used + $3, 0) where workspace_id = $1 and month = $2',
    values: [workspaceId, month, count],
    read: changed,
  }
}

export function setAllowance(workspaceId: string, month: string, used: number): Query<boolean> {
  return {
    name: 'set_allowance',
    text: `insert into allowances (workspace_id, month, used) values ($1, $2, $3)
      on conflict (workspace_id, month) do update set used = excluded.used`,
    values: [workspaceId, month, used],
    read: changed,
  }
}
