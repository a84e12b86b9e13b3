import { computed, listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Cell } from '../../values/secret.ts'
import type { Move, MoveState, WorkUnderWay } from './move.ts'

const { moves } = tables

const MOVE_ROW = {
  ...pick(moves, 'id', 'workspace_id', 'slug', 'state', 'started_at', 'ended_at'),
  cell: narrow<Cell>(moves.cell),
}
const COLUMNS = listOf(MOVE_ROW)

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
        select ${COLUMNS} from moves where workspace_id = $1 union all select ${COLUMNS} from moves where slug = $1
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
 * Records the hashes of the workspace's credentials. Uses the indexes `api_keys_listed`, `access_tokens_of_connection`,
 * `refresh_tokens_of_connection` and `authorization_codes_of_connection`.
 */
export function insertMovedCredentials(moveId: string, workspaceId: string): Query<boolean> {
  return {
    name: 'insert_moved_credentials',
    text: `insert into moved_credentials (move_id, secret_hash)
      select $1, secret_hash from api_keys where workspace_id = $2
      union all select $1, token_hash from access_tokens where workspace_id = $2
      union all select $1, token_hash from refresh_tokens where workspace_id = $2
      union all select $1, code_hash from authorization_codes where workspace_id = $2`,
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
export function findMoveOfCredential(secretHash: Buffer): Query<Pick<Move, 'state' | 'cell'> | null> {
  return {
    name: 'find_move_of_credential',
    text: `select m.state, m.cell from moved_credentials c join moves m on m.id = c.move_id where c.secret_hash = $1`,
    values: [secretHash],
    read: firstOrNull(pick(MOVE_ROW, 'state', 'cell'), ({ state, cell }) => ({ state, cell })),
  }
}

/**
 * Counts the work of a workspace that processes are doing now. Uses the indexes `payments_holding_balance` and
 * `deliveries_leased` and primary keys. Reads all purchases of the workspace.
 */
export function countWorkUnderWay(workspaceId: string, now: Date): Query<WorkUnderWay> {
  const row = { payments: computed.int8, purchases: computed.int8, owner_changes: computed.int8 }
  return {
    name: 'count_work_under_way',
    text: `select
        (select count(*) from payments
          where workspace_id = $1 and settled_at is null and attempt_until > $2) as payments,
        (select count(*) from purchases where workspace_id = $1 and worked_until > $2) as purchases,
        (select count(*) from wallets where workspace_id = $1 and signer_change_until > $2) as owner_changes,
        (select count(*) from deliveries
          where workspace_id = $1 and leased_until is not null and leased_until > $2) as deliveries`,
    values: [workspaceId, now],
    read: one({ ...row, deliveries: computed.int8 }, (counts) => ({
      payments: Number(counts.payments),
      purchases: Number(counts.purchases),
      ownerChanges: Number(counts.owner_changes),
      deliveries: Number(counts.deliveries),
    })),
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
