import { computed, narrow, nullable } from '../../../db/column.ts'
import { all, type Query } from '../../../db/query.ts'
import type { Mode } from '../../../values/mode.ts'
import type { AuditAction } from '../../audit/audit-entry.ts'
import type { EventType } from '../../events/event.ts'
import type { Place } from './change.ts'

/** The actions of the audit entries about withdrawals. These entries are read because withdrawals have no events. */
export type WithdrawalAction = Extract<AuditAction, `withdrawal.${string}`>

export interface RecentRow extends Place {
  readonly id: string
  /** The type of an event, or the action of an audit entry about a withdrawal. Null for a refusal. */
  readonly type: EventType | WithdrawalAction | null
}

const RECENT_ROW = {
  workspace_id: computed.text,
  mode: narrow<Mode>(computed.text),
  type: nullable(narrow<EventType | WithdrawalAction>(computed.text)),
  id: computed.text,
}

export interface RecentRange {
  readonly places: readonly Place[]
  readonly types: readonly string[]
  /** The lowest id of the events to list. It need not be the id of an existing event. */
  readonly eventsFrom: string
  /** The lowest id of the refusals to list. It need not be the id of an existing refusal. */
  readonly refusalsFrom: string
  /** The lowest id of the audit entries to list. It need not be the id of an existing entry. */
  readonly entriesFrom: string
  /** How many rows of each type are returned at most, for each place. */
  readonly limit: number
}

/**
 * For each place, lists the newest events of each type, the newest refusals, and the newest audit entries about
 * withdrawals, because withdrawals have no events. Uses `events_by_type`, `payment_refusals_listed` and the primary key
 * of `audit_entries`.
 */
export function listRecentRows({
  places,
  types,
  eventsFrom,
  refusalsFrom,
  entriesFrom,
  limit,
}: RecentRange): Query<RecentRow[]> {
  return {
    name: 'list_recent_changes',
    text: `select p.workspace_id, p.mode, e.type, e.id
      from unnest($1::text[], $2::text[]) as p (workspace_id, mode)
      cross join unnest($3::text[]) as wanted (type)
      cross join lateral (
        select type, id from events
        where workspace_id = p.workspace_id and mode = p.mode and type = wanted.type and id >= $4
        order by id desc limit $6
      ) e
      union all
      select p.workspace_id, p.mode, null, r.id
      from unnest($1::text[], $2::text[]) as p (workspace_id, mode)
      cross join lateral (
        select id from payment_refusals
        where workspace_id = p.workspace_id and mode = p.mode and id >= $5
        order by id desc limit $6
      ) r
      union all
      select p.workspace_id, p.mode, a.action, a.id
      from unnest($1::text[], $2::text[]) as p (workspace_id, mode)
      cross join lateral (
        select action, id from audit_entries
        where log_id = p.workspace_id and id >= $7 and starts_with(action, 'withdrawal.')
          and details ->> 'mode' = p.mode
        order by id desc limit $6
      ) a`,
    values: [
      places.map(({ workspaceId }) => workspaceId),
      places.map(({ mode }) => mode),
      types,
      eventsFrom,
      refusalsFrom,
      limit,
      entriesFrom,
    ],
    read: all(RECENT_ROW, (row) => ({ workspaceId: row.workspace_id, mode: row.mode, type: row.type, id: row.id })),
  }
}
