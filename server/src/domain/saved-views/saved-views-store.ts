import { listOf, pick, type RowOf } from '../../db/column.ts'
import { all, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import type { SavedView } from './saved-view.ts'

const { saved_views: views } = tables

const VIEW_ROW = pick(views, 'workspace_id', 'id', 'mode', 'name', 'query', 'created_at')

const COLUMNS = listOf(VIEW_ROW)

/** Lists the views of a workspace and mode by their names. Uses `saved_views_name`. */
export function listViewRows(workspaceId: string, mode: Mode, limit: number): Query<SavedView[]> {
  return {
    name: 'list_saved_views',
    text: `select ${COLUMNS} from saved_views where workspace_id = $1 and mode = $2 order by name limit $3`,
    values: [workspaceId, mode, limit],
    read: all(VIEW_ROW, toView),
  }
}

/** Inserts a view, or replaces the query of the view with this name. Uses `saved_views_name`. */
export function saveViewRow({ workspaceId, id, mode, name, query, createdAt }: SavedView): Query<SavedView> {
  return {
    name: 'save_view',
    text: `insert into saved_views (${COLUMNS}) values ($1, $2, $3, $4, $5, $6)
      on conflict (workspace_id, mode, name) do update set query = excluded.query returning ${COLUMNS}`,
    values: [workspaceId, id, mode, name, query, createdAt],
    read: one(VIEW_ROW, toView),
  }
}

/** Deletes a view and returns it. A second caller gets null. Uses the primary key. */
export function takeView(workspaceId: string, mode: Mode, id: string): Query<SavedView | null> {
  return {
    name: 'take_view',
    text: `delete from saved_views where workspace_id = $1 and id = $2 and mode = $3 returning ${COLUMNS}`,
    values: [workspaceId, id, mode],
    read: firstOrNull(VIEW_ROW, toView),
  }
}

function toView(row: RowOf<typeof VIEW_ROW>): SavedView {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    mode: row.mode,
    name: row.name,
    query: row.query,
    createdAt: row.created_at,
  }
}
