import { computed, pick } from '../../db/column.ts'
import { changed, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import { toPlan } from '../workspaces/workspaces-store.ts'
import { PLANS } from '../plans/plan.ts'
import {
  DROPPED_BYTES_MAX,
  type BytesReservation,
  type DroppedKind,
  type StoredBytes,
  type StoredKind,
} from './stored-bytes.ts'

/** The constraint that a reservation violates if the budget is full. */
export const BUDGET_CONSTRAINT = 'stored_bytes_budget'

/** Reads how much of its budget for the responses of sellers a workspace uses in a mode. Uses the primary keys. */
export function findAnswerBytes(workspaceId: string, mode: Mode): Query<StoredBytes> {
  return {
    name: 'find_answer_bytes',
    text: `select a.plan, coalesce((
        select used_bytes from stored_bytes where workspace_id = $1 and mode = $2 and kind = 'answers'
      ), 0) as used from workspaces a where a.id = $1`,
    values: [workspaceId, mode],
    read: one({ ...pick(tables.workspaces, 'plan'), used: computed.int8 }, ({ plan, used }) => ({
      usedBytes: Number(used),
      budgetBytes: PLANS[toPlan(plan)].answerBytesMax[mode],
    })),
  }
}

/**
 * Reserves room for responses of sellers. Fails with `BUDGET_CONSTRAINT` if a budget has too little room. The rows are
 * locked in the order of their keys, so that no two transactions wait for each other. Uses the primary key.
 */
export function reserveAnswerBytes(reservations: readonly BytesReservation[]): Query<boolean> {
  return {
    name: 'reserve_answer_bytes',
    text: `insert into stored_bytes as b (workspace_id, mode, kind, used_bytes, budget_bytes)
      select workspace_id, mode, 'answers', sum(bytes), max(budget)
      from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) as r (workspace_id, mode, bytes, budget)
      group by workspace_id, mode order by workspace_id, mode
      on conflict (workspace_id, mode, kind) do update
        set used_bytes = b.used_bytes + excluded.used_bytes, budget_bytes = excluded.budget_bytes`,
    values: [
      reservations.map(({ workspaceId }) => workspaceId),
      reservations.map(({ mode }) => mode),
      reservations.map(({ bytes }) => bytes),
      reservations.map(({ budgetBytes }) => budgetBytes),
    ],
    read: changed,
  }
}

/**
 * Returns the part of a statement that gives back bytes. `freed` is an earlier part with the columns `workspace_id`,
 * `mode` and `bytes`. The rows are locked in the order of their keys, as `reserveAnswerBytes` does. Uses the primary key.
 */
export function giveBackText(kind: StoredKind, freed: string): string {
  return `counted as (
        select b.workspace_id, b.mode, f.bytes
        from (
          select workspace_id, mode, sum(bytes) as bytes from ${freed} where bytes > 0
          group by workspace_id, mode order by workspace_id, mode
        ) f
        cross join lateral (
          select workspace_id, mode from stored_bytes
          where workspace_id = f.workspace_id and mode = f.mode and kind = '${kind}' for no key update
        ) b
      ), given_back as (
        update stored_bytes b set used_bytes = greatest(b.used_bytes - c.bytes, 0) from counted c
        where b.workspace_id = c.workspace_id and b.mode = c.mode and b.kind = '${kind}'
      )`
}

/**
 * Returns the part of a statement that counts bytes of a kind whose oldest rows go if the budget is full. `grown` and
 * `dropped` are earlier parts with the columns `workspace_id`, `mode` and `bytes`: what was added, and what went. The rows
 * are locked in the order of their keys. Uses the primary key.
 */
export function growText(kind: DroppedKind, { grown, dropped }: { grown: string; dropped: string }): string {
  return `counted as (
        insert into stored_bytes as b (workspace_id, mode, kind, used_bytes, budget_bytes)
        select workspace_id, mode, '${kind}', sum(bytes), ${DROPPED_BYTES_MAX[kind]} from ${grown}
        group by workspace_id, mode order by workspace_id, mode
        on conflict (workspace_id, mode, kind) do update set budget_bytes = excluded.budget_bytes,
          used_bytes = greatest(b.used_bytes + excluded.used_bytes - coalesce((
            select sum(bytes) from ${dropped} d where d.workspace_id = b.workspace_id and d.mode = b.mode
          ), 0), 0)
      )`
}

/** Returns an expression: how much a workspace uses of the budget of a kind, with what a statement adds. */
export function usedText(kind: DroppedKind, { workspace, mode, added }: Readonly<Record<string, string>>): string {
  return `${added} + coalesce((
          select used_bytes from stored_bytes where workspace_id = ${workspace} and mode = ${mode} and kind = '${kind}'
        ), 0)`
}
