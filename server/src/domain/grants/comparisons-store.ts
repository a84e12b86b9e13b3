import { pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'

const { grants } = tables

interface GrantPlace {
  readonly workspaceId: string
  readonly grantId: string
}

/**
 * Lists active grants whose time to be compared with the enclave's record has come, those first that have waited longest.
 * Uses the index `grants_to_compare`.
 */
export function listGrantsToCompare(now: Date, limit: number): Query<GrantPlace[]> {
  return {
    name: 'list_grants_to_compare',
    text: `select workspace_id, id from grants
      where status = 'active' and compare_at <= $1
      order by compare_at limit $2`,
    values: [now, limit],
    read: all(pick(grants, 'workspace_id', 'id'), (row) => ({ workspaceId: row.workspace_id, grantId: row.id })),
  }
}

/** Records that a grant was compared, and whether its terms differ. Uses the primary key. */
export function recordComparison(
  { workspaceId, grantId }: GrantPlace,
  { now, isDifferent, nextAt }: { readonly now: Date; readonly isDifferent: boolean; readonly nextAt: Date },
): Query<boolean> {
  return {
    name: 'record_grant_comparison',
    text: `update grants set compare_at = $3, differs_since = case when $4 then coalesce(differs_since, $5) end
      where workspace_id = $1 and id = $2 and status = 'active'`,
    values: [workspaceId, grantId, nextAt, isDifferent, now],
    read: changed,
  }
}

/** Sets when a grant is compared next, if it could not be compared. Uses the primary key. */
export function postponeComparison({ workspaceId, grantId }: GrantPlace, nextAt: Date): Query<boolean> {
  return {
    name: 'postpone_grant_comparison',
    text: `update grants set compare_at = $3 where workspace_id = $1 and id = $2 and status = 'active'`,
    values: [workspaceId, grantId, nextAt],
    read: changed,
  }
}
