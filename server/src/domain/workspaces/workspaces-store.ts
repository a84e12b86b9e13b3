import { listOf, pick, type RowOf } from '../../db/column.ts'
import { changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { isPlan, type Plan } from '../plans/plan.ts'
import type { Workspace } from './workspace.ts'

const WORKSPACE_ROW = pick(tables.workspaces, 'id', 'slug', 'name', 'plan', 'created_at', 'created_by', 'moving_since')
const COLUMNS = listOf(WORKSPACE_ROW)

/** Inserts a workspace unless its slug is taken. Returns whether it was inserted. */
export function insertWorkspace(workspace: Workspace): Query<boolean> {
  return {
    name: 'insert_workspace',
    text: `insert into workspaces (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7) on conflict (slug) do nothing`,
    values: [
      workspace.id,
      workspace.slug,
      workspace.name,
      workspace.plan,
      workspace.createdAt,
      workspace.createdBy,
      workspace.movingSince,
    ],
    read: changed,
  }
}

export function findWorkspaceBySlug(slug: string): Query<Workspace | null> {
  return {
    name: 'find_workspace_by_slug',
    text: `select ${COLUMNS} from workspaces where slug = $1`,
    values: [slug],
    read: firstOrNull(WORKSPACE_ROW, toWorkspace),
  }
}

/** Uses the primary key. */
export function findWorkspaceById(workspaceId: string): Query<Workspace | null> {
  return {
    name: 'find_workspace_by_id',
    text: `select ${COLUMNS} from workspaces where id = $1`,
    values: [workspaceId],
    read: firstOrNull(WORKSPACE_ROW, toWorkspace),
  }
}

/**
 * Locks and returns the workspace. Changes that check a limit, such as the plan's limit on agents, take this lock
 * first, so that the limit is exact.
 */
export function lockWorkspace(workspaceId: string): Query<Workspace | null> {
  return {
    name: 'lock_workspace',
    text: `select ${COLUMNS} from workspaces where id = $1 for no key update`,
    values: [workspaceId],
    read: firstOrNull(WORKSPACE_ROW, toWorkspace),
  }
}

export function updatePlan(workspaceId: string, plan: Plan): Query<boolean> {
  return {
    name: 'update_plan',
    text: 'update workspaces set plan = $2 where id = $1',
    values: [workspaceId, plan],
    read: changed,
  }
}

export function updateWorkspaceName(workspaceId: string, name: string): Query<boolean> {
  return {
    name: 'update_workspace_name',
    text: 'update workspaces set name = $2 where id = $1',
    values: [workspaceId, name],
    read: changed,
  }
}

/** Records since when a workspace is being moved to another cell, or null if it is not. Uses the primary key. */
export function updateMovingSince(workspaceId: string, movingSince: Date | null): Query<boolean> {
  return {
    name: 'update_moving_since',
    text: 'update workspaces set moving_since = $2 where id = $1',
    values: [workspaceId, movingSince],
    read: changed,
  }
}

function toWorkspace(row: RowOf<typeof WORKSPACE_ROW>): Workspace {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    plan: toPlan(row.plan),
    createdAt: row.created_at,
    createdBy: row.created_by,
    movingSince: row.moving_since,
  }
}

export function toPlan(text: string): Plan {
  if (!isPlan(text)) throw new Error(`unknown plan ${text}`)
  return text
}
