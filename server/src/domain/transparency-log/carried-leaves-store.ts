import { listOf, narrow, pick } from '../../db/column.ts'
import { all, changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { LeafType } from './leaf.ts'
import type { LeafKey, StoredLeaf } from './transparency-log-store.ts'

const { carried_logs: logs, carried_leaves: carried } = tables

/** Which log of which cell, for which workspace. */
export interface CarriedLog {
  readonly workspaceId: string
  readonly moveId: string
  readonly checkpoint: string
  readonly verifierKey: string
}

export function insertCarriedLog({ workspaceId, moveId, checkpoint, verifierKey }: CarriedLog): Query<boolean> {
  return {
    name: 'insert_carried_log',
    text: `insert into carried_logs (workspace_id, move_id, checkpoint, verifier_key) values ($1, $2, $3, $4)`,
    values: [workspaceId, moveId, checkpoint, verifierKey],
    read: changed,
  }
}

/**
 * Replaces the checkpoints of a log that a workspace leaves for the second time, so that all its leaves of this log are
 * proved by one checkpoint. The first line of a checkpoint is the origin of its log. Uses the primary key.
 */
export function renewCarriedLogs({ workspaceId, checkpoint, verifierKey }: Omit<CarriedLog, 'moveId'>): Query<boolean> {
  return {
    name: 'renew_carried_logs',
    text: `update carried_logs set checkpoint = $2, verifier_key = $3
      where workspace_id = $1 and split_part(checkpoint, e'\n', 1) = split_part($2, e'\n', 1)`,
    values: [workspaceId, checkpoint, verifierKey],
    read: changed,
  }
}

/**
 * Stores leaves with the proofs that the log of the checkpoint contains them. If the workspace left this log before, its
 * earlier leaves stay in the order of the logs where they are, and get new proofs. Leaves that another log contains too,
 * because a restored log begins with its leaves, stay as they are.
 */
export function insertCarriedLeaves(
  { workspaceId, moveId, checkpoint }: Omit<CarriedLog, 'verifierKey'>,
  carried: readonly (StoredLeaf & { readonly proof: Buffer })[],
): Query<boolean> {
  return {
    name: 'insert_carried_leaves',
    text: `insert into carried_leaves as c (workspace_id, move_id, subject, type, position, content, proof)
      select $1, $2, * from unnest($4::text[], $5::text[], $6::bigint[], $7::text[], $8::bytea[])
      on conflict (workspace_id, subject, type) do update set proof = excluded.proof
        where exists (select from carried_logs l
          where l.workspace_id = $1 and l.move_id = c.move_id and l.checkpoint = $3)`,
    values: [
      ...[workspaceId, moveId, checkpoint],
      carried.map(({ subject }) => subject),
      carried.map(({ type }) => type),
      carried.map(({ position }) => position),
      carried.map(({ content }) => content),
      carried.map(({ proof }) => proof),
    ],
    read: changed,
  }
}

/** Lists the logs in which a workspace was before, in the order of time. Uses the primary key. */
export function listCarriedLogs(workspaceId: string): Query<Omit<CarriedLog, 'workspaceId'>[]> {
  return {
    name: 'list_carried_logs',
    text: 'select move_id, checkpoint, verifier_key from carried_logs where workspace_id = $1 order by move_id',
    values: [workspaceId],
    read: all(pick(logs, 'move_id', 'checkpoint', 'verifier_key'), (row) => ({
      moveId: row.move_id,
      checkpoint: row.checkpoint,
      verifierKey: row.verifier_key,
    })),
  }
}

/** A leaf that a move brought, with the proof that its log contains it: hashes, one after the other. */
export interface CarriedLeaf extends StoredLeaf {
  readonly moveId: string
  readonly proof: Buffer
}

const CARRIED_ROW = {
  ...pick(carried, 'subject', 'move_id', 'position', 'content', 'proof'),
  type: narrow<LeafType>(carried.type),
}

/** Finds leaves that moves brought. Those that do not exist are left out. Uses the primary key. */
export function findCarriedLeaves(workspaceId: string, keys: readonly LeafKey[]): Query<CarriedLeaf[]> {
  return {
    name: 'find_carried_leaves',
    text: `select ${listOf(CARRIED_ROW)}
      from unnest($2::text[], $3::text[]) as r (of_subject, of_type)
      cross join lateral (select ${listOf(CARRIED_ROW)} from carried_leaves
        where workspace_id = $1 and subject = of_subject and type = of_type offset 0) l`,
    values: [workspaceId, keys.map(({ subject }) => subject), keys.map(({ type }) => type)],
    read: all(CARRIED_ROW, ({ move_id: moveId, position, ...leaf }) => ({
      ...leaf,
      moveId,
      position: Number(position),
    })),
  }
}

/** Deletes what a move that is undone has stored. */
export function deleteCarriedLog(workspaceId: string, moveId: string): Query<boolean> {
  return {
    name: 'delete_carried_log',
    text: `with leaves as (delete from carried_leaves where workspace_id = $1 and move_id = $2)
      delete from carried_logs where workspace_id = $1 and move_id = $2`,
    values: [workspaceId, moveId],
    read: changed,
  }
}
