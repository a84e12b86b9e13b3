import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Cell } from '../../values/secret.ts'
import type { Move, MoveState } from './move.ts'

const { moves } = tables

const MOVE_ROW = {
  ...pick(moves, 'id', 'workspace_id', 'slug', 'state', 'started_at', 'ended_at'),
  cell: narrow<Cell>(moves.cell),
}
const COLUMNS = listOf(MOVE_ROW)
const DEPARTURE_ROW = pick(MOVE_ROW, 'state', 'cell')

/** What this cell says about a workspace that was taken out of it. */
export type Departure = Pick<Move, 'state' | 'cell'>

/** Inserts a move. Returns false if there is a move with this id already, or another move of the workspace under way. */
export function insertMove(move: Move): Query<boolean> {
  return {
    name: 'insert_move',
    text: `insert into moves (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    values: [move.id, move.workspaceId, move.slug, move.state, move.startedAt, move.endedAt, move.cell],
    read: changed,
  }
}

/**
 * Returns the newest move of a workspace, which is given by its id or slug. Uses the indexes `moves_of_workspace` and
 * `moves_of_slug`.
 */
export function findNewestMove(workspace: string): Query<Move | null> {
  return {
    name: 'find_newest_move',
    text: `select ${COLUMNS} from (
        (select ${COLUMNS} from moves where workspace_id = $1 order by started_at desc, id desc limit 1)
        union all (select ${COLUMNS} from moves where slug = $1 order by started_at desc, id desc limit 1)
      ) m order by started_at desc, id desc limit 1`,
    values: [workspace],
    read: firstOrNull(MOVE_ROW, toMove),
  }
}

/** Locks and returns a move. Uses the primary key. */
export function lockMove(id: string): Query<Move | null> {
  return {
    name: 'lock_move',
    text: `select ${COLUMNS} from moves where id = $1 for update`,
    values: [id],
    read: firstOrNull(MOVE_ROW, toMove),
  }
}

/** Uses the primary key. */
export function markMove(id: string, state: MoveState, endedAt: Date | null): Query<boolean> {
  return {
    name: 'mark_move',
    text: 'update moves set state = $2, ended_at = $3 where id = $1',
    values: [id, state, endedAt],
    read: changed,
  }
}

/** Lists the moves with which a workspace left this cell. Uses the index `moves_of_workspace`. */
export function listDepartures(workspaceId: string): Query<Move[]> {
  return {
    name: 'list_departures',
    text: `select ${COLUMNS} from moves where workspace_id = $1 and state = 'moved'`,
    values: [workspaceId],
    read: all(MOVE_ROW, toMove),
  }
}

/**
 * Records the hashes of the workspace's credentials and invitations. Uses the indexes `api_keys_listed`,
 * `access_tokens_of_connection`, `refresh_tokens_of_connection`, `authorization_codes_of_connection` and
 * `invitations_pkey`.
 */
export function insertMovedCredentials(moveId: string, workspaceId: string): Query<boolean> {
  return {
    name: 'insert_moved_credentials',
    text: `insert into moved_credentials (move_id, secret_hash)
      select $1, secret_hash from api_keys where workspace_id = $2
      union all select $1, token_hash from access_tokens where workspace_id = $2
      union all select $1, token_hash from refresh_tokens where workspace_id = $2
      union all select $1, code_hash from authorization_codes where workspace_id = $2
      union all select $1, secret_hash from invitations where workspace_id = $2
      on conflict do nothing`,
    values: [moveId, workspaceId],
    read: changed,
  }
}

/** Uses the index `moved_credentials_of_move`. */
export function deleteMovedCredentials(moveId: string): Query<boolean> {
  return {
    name: 'delete_moved_credentials',
    text: 'delete from moved_credentials where move_id = $1',
    values: [moveId],
    read: changed,
  }
}

/** Returns the move that took this credential out of the cell. Uses primary keys. */
export function findMoveOfCredential(secretHash: Buffer): Query<Departure | null> {
  return {
    name: 'find_move_of_credential',
    text: `select m.state, m.cell from moved_credentials c join moves m on m.id = c.move_id where c.secret_hash = $1`,
    values: [secretHash],
    read: firstOrNull(DEPARTURE_ROW, toDeparture),
  }
}

/**
 * Returns the newest move that took the workspace with this slug out of the cell, if the user was a member of it. Uses
 * the index `moves_of_slug` and the primary key of `moved_rows`.
 */
export function findMoveOfMember(userId: string, slug: string): Query<Departure | null> {
  return {
    name: 'find_move_of_member',
    text: `select m.state, m.cell from moves m where m.slug = $2 and m.state in ('taken_out', 'moved') and exists (
        select from moved_rows r
        where r.move_id = m.id and r.table_name = 'members' and r.content ->> 'user_id' = $1)
      order by m.started_at desc, m.id desc limit 1`,
    values: [userId, slug],
    read: firstOrNull(DEPARTURE_ROW, toDeparture),
  }
}

function toMove(row: RowOf<typeof MOVE_ROW>): Move {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    slug: row.slug,
    cell: row.cell,
    state: row.state,
    startedAt: row.started_at,
    endedAt: row.ended_at,
  }
}

function toDeparture({ state, cell }: RowOf<typeof DEPARTURE_ROW>): Departure {
  return { state, cell }
}
