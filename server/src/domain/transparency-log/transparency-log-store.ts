import { listOf, narrow, pick, required, type RowOf } from '../../db/column.ts'
import { all, changed, one, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import {
  formatSignatureSubject,
  LEAF_TYPES,
  parseSignatureSubject,
  type FirstAnswer,
  type LeafType,
  type LoggedEntry,
  type LoggedPayment,
  type LoggedPurchase,
  type LoggedSignature,
  type QueuedChange,
} from './leaf.ts'
import { RESTORED } from './restored-leaf.ts'
import type { Tile } from './tile.ts'

const {
  audit_entries: entries,
  payments,
  owner_signatures: signatures,
  purchases,
  log_queue: queue,
  log_head: head,
  log_leaves: storedLeaves,
  log_tiles: tiles,
} = tables

/**
 * Returns the statement that queues a change for the log. It belongs into the statement that makes the change, so that
 * both are committed together. `rows` is a `with` query of that statement, which has the columns `log_id`, `subject` and
 * `at`.
 */
export function queueText(type: LeafType, rows: string): string {
  return `insert into log_queue (log_id, type, subject, at) select log_id, '${type}', subject, at from ${rows}`
}

/**
 * The changes of which this version makes leaves. During an upgrade, a process of a later version may queue others. They
 * wait for that version.
 */
const IS_KNOWN = `type in (${LEAF_TYPES.map((type) => `'${type}'`).join(', ')})`

/** Returns whether a change waits for its leaf. Uses the primary key. */
export function hasQueuedChange(): Query<boolean> {
  return {
    name: 'has_queued_change',
    text: `select number from log_queue where ${IS_KNOWN} order by number limit 1`,
    values: [],
    read: changed,
  }
}

/** Lists the changes that wait, in the order of their numbers. Uses the primary key. */
export function listQueuedChanges(limit: number): Query<QueuedChange[]> {
  return {
    name: 'list_queued_changes',
    text: `select number, log_id, type, subject, at from log_queue where ${IS_KNOWN} order by number limit $1`,
    values: [limit],
    read: all(pick(queue, 'number', 'log_id', 'type', 'subject', 'at'), ({ log_id: logId, ...row }) => ({
      ...row,
      logId,
    })),
  }
}

/** Deletes the changes whose leaves were made. Uses the primary key. */
export function deleteQueuedChanges(changes: readonly QueuedChange[]): Query<boolean> {
  return {
    name: 'delete_queued_changes',
    text: 'delete from log_queue where number = any($1::bigint[])',
    values: [changes.map(({ number }) => number)],
    read: changed,
  }
}

/** Names the row that a change made. */
export function keyOf({ logId, subject }: Pick<QueuedChange, 'logId' | 'subject'>): string {
  return `${logId} ${subject}`
}

const ENTRY_ROW = {
  ...pick(entries, 'log_id', 'id', 'created_at', 'actor_kind', 'actor_id', 'action', 'subject'),
  details: narrow<LoggedEntry['details']>(entries.details),
}

/**
 * Finds the audit entries of changes, by their keys. `offset 0` keeps the planner from merging the subquery into a join,
 * so each entry is looked up with the primary key.
 */
export function findLoggedEntries(changes: readonly QueuedChange[]): Query<ReadonlyMap<string, LoggedEntry>> {
  return {
    name: 'find_logged_entries',
    text: `select ${listOf(ENTRY_ROW)}
      from unnest($1::text[], $2::text[]) as r (of_log, of_id)
      cross join lateral (select ${listOf(ENTRY_ROW)} from audit_entries
        where log_id = of_log and id = of_id offset 0) e`,
    values: [changes.map(({ logId }) => logId), changes.map(({ subject }) => subject)],
    read: rowsOf(
      ENTRY_ROW,
      (rows) => new Map(rows.map((row) => [keyOf({ logId: row.log_id, subject: row.id }), toEntry(row)])),
    ),
  }
}

function toEntry(row: RowOf<typeof ENTRY_ROW>): LoggedEntry {
  const { created_at: createdAt, actor_kind: actorKind, actor_id: actorId, action, subject, details } = row
  return { createdAt, actorKind, actorId, action, subject, details }
}

const PAYMENT_ROW = {
  ...pick(payments, 'workspace_id', 'id', 'mode', 'kind', 'wallet_address', 'agent_id', 'grant_id', 'to_address'),
  ...pick(payments, 'amount_micro', 'max_per_tx_micro', 'daily_cap_micro', 'spent_24h_micro', 'credential_id'),
  ...pick(payments, 'request_id', 'authorization_nonce', 'valid_before', 'memo', 'idempotency_key', 'created_at'),
  ...pick(payments, 'recovered_at', 'status', 'failure_code', 'tx_hash', 'log_index', 'mined_block'),
  ...pick(payments, 'mined_block_hash', 'settled_at'),
}

/** Finds the payments of changes, by their keys, as `findLoggedEntries` finds audit entries. Uses the primary key. */
export function findLoggedPayments(changes: readonly QueuedChange[]): Query<ReadonlyMap<string, LoggedPayment>> {
  return {
    name: 'find_logged_payments',
    text: `select ${listOf(PAYMENT_ROW)}
      from unnest($1::text[], $2::text[]) as r (of_workspace, of_id)
      cross join lateral (select ${listOf(PAYMENT_ROW)} from payments
        where workspace_id = of_workspace and id = of_id offset 0) p`,
    values: [changes.map(({ logId }) => logId), changes.map(({ subject }) => subject)],
    read: rowsOf(PAYMENT_ROW, (rows) => {
      return new Map(rows.map((row) => [keyOf({ logId: row.workspace_id, subject: row.id }), toPayment(row)]))
    }),
  }
}

function toPayment(row: RowOf<typeof PAYMENT_ROW>): LoggedPayment {
  return {
    mode: row.mode,
    kind: row.kind,
    walletAddress: row.wallet_address,
    agentId: row.agent_id,
    grantId: row.grant_id,
    to: row.to_address,
    amountMicro: row.amount_micro,
    maxPerTxMicro: row.max_per_tx_micro,
    dailyCapMicro: row.daily_cap_micro,
    spent24hMicro: row.spent_24h_micro,
    credentialId: row.credential_id,
    requestId: row.request_id,
    authorizationNonce: row.authorization_nonce,
    validBefore: row.valid_before,
    memo: row.memo,
    idempotencyKey: row.idempotency_key,
    createdAt: row.created_at,
    recoveredAt: row.recovered_at,
    status: row.status,
    failureCode: row.failure_code,
    txHash: row.tx_hash,
    logIndex: row.log_index,
    block: row.mined_block,
    blockHash: row.mined_block_hash,
    settledAt: row.settled_at,
  }
}

const SIGNATURE_ROW = {
  ...pick(signatures, 'workspace_id', 'mode', 'kind', 'subject', 'credential_id', 'challenge_sha256', 'received_at'),
  entry_sha256: required(signatures.entry_sha256),
}

/** Finds the signatures of changes, by their keys, as `findLoggedEntries` finds audit entries. Uses the primary key. */
export function findLoggedSignatures(changes: readonly QueuedChange[]): Query<ReadonlyMap<string, LoggedSignature>> {
  const keys = changes.map(({ subject }) => parseSignatureSubject(subject))
  return {
    name: 'find_logged_signatures',
    text: `select ${listOf(SIGNATURE_ROW)}
      from unnest($1::text[], $2::text[], $3::bytea[]) as r (of_workspace, of_credential, of_challenge)
      cross join lateral (select ${listOf(SIGNATURE_ROW)} from owner_signatures
        where workspace_id = of_workspace and credential_id = of_credential and challenge_sha256 = of_challenge
          and entry_sha256 is not null offset 0) s`,
    values: [
      changes.map(({ logId }) => logId),
      keys.map(({ credentialId }) => credentialId),
      keys.map(({ challengeSha256 }) => challengeSha256),
    ],
    read: rowsOf(SIGNATURE_ROW, (rows) => new Map(rows.map((row) => [keyOfSignature(row), toSignature(row)]))),
  }
}

function keyOfSignature(row: RowOf<typeof SIGNATURE_ROW>): string {
  const { workspace_id: logId, credential_id: credentialId, challenge_sha256: challengeSha256 } = row
  return keyOf({ logId, subject: formatSignatureSubject({ credentialId, challengeSha256 }) })
}

function toSignature(row: RowOf<typeof SIGNATURE_ROW>): LoggedSignature {
  return {
    mode: row.mode,
    kind: row.kind,
    object: row.subject,
    credentialId: row.credential_id,
    receivedAt: row.received_at,
    entrySha256: row.entry_sha256,
  }
}

const PURCHASE_ROW = {
  ...pick(purchases, 'workspace_id', 'payment_id', 'mode', 'protocol', 'method', 'resource_url'),
  first_answer: required(narrow<FirstAnswer>(purchases.first_answer)),
}

/** Finds the purchases of changes, by their keys, as `findLoggedEntries` finds audit entries. Uses the primary key. */
export function findLoggedPurchases(changes: readonly QueuedChange[]): Query<ReadonlyMap<string, LoggedPurchase>> {
  return {
    name: 'find_logged_purchases',
    text: `select ${listOf(PURCHASE_ROW)}
      from unnest($1::text[], $2::text[]) as r (of_workspace, of_id)
      cross join lateral (select ${listOf(PURCHASE_ROW)} from purchases
        where workspace_id = of_workspace and payment_id = of_id and first_answer is not null offset 0) p`,
    values: [changes.map(({ logId }) => logId), changes.map(({ subject }) => subject)],
    read: rowsOf(PURCHASE_ROW, (rows) => {
      return new Map(rows.map((row) => [keyOf({ logId: row.workspace_id, subject: row.payment_id }), toPurchase(row)]))
    }),
  }
}

function toPurchase(row: RowOf<typeof PURCHASE_ROW>): LoggedPurchase {
  const { mode, protocol, method, resource_url: resourceUrl, first_answer: firstAnswer } = row
  return { mode, protocol, method, resourceUrl, firstAnswer }
}

/** A leaf, and what it reports. */
export interface NewLeaf {
  readonly change: { readonly logId: string; readonly type: string; readonly subject: string }
  readonly content: string
}

/** A leaf with its place in the tree. */
export interface PlacedLeaf extends NewLeaf {
  readonly position: number
}

export function insertLeaves(leaves: readonly PlacedLeaf[]): Query<boolean> {
  return {
    name: 'insert_log_leaves',
    text: `insert into log_leaves (position, log_id, type, subject, content)
      select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])`,
    values: [
      leaves.map(({ position }) => position),
      leaves.map(({ change }) => change.logId),
      leaves.map(({ change }) => change.type),
      leaves.map(({ change }) => change.subject),
      leaves.map(({ content }) => content),
    ],
    read: changed,
  }
}

/** What names a leaf among those of a workspace. */
export interface LeafKey {
  readonly type: LeafType
  readonly subject: string
}

/** A leaf as it is stored. */
export interface StoredLeaf extends LeafKey {
  readonly position: number
  readonly content: string
}

const LEAF_ROW = { ...pick(storedLeaves, 'subject', 'position', 'content'), type: narrow<LeafType>(storedLeaves.type) }

/**
 * Finds leaves of a workspace. Those that do not exist are left out. Uses the index `log_leaves_one_per_change`.
 */
export function findLeaves(logId: string, keys: readonly LeafKey[]): Query<StoredLeaf[]> {
  return {
    name: 'find_log_leaves',
    text: `select ${listOf(LEAF_ROW)}
      from unnest($2::text[], $3::text[]) as r (of_subject, of_type)
      cross join lateral (select ${listOf(LEAF_ROW)} from log_leaves
        where log_id = $1 and subject = of_subject and type = of_type offset 0) l`,
    values: [logId, keys.map(({ subject }) => subject), keys.map(({ type }) => type)],
    read: all(LEAF_ROW, toLeaf),
  }
}

/** Lists the leaves of a workspace after one of them. Uses the index `log_leaves_one_per_change`. */
export function pageOwnLeaves(
  logId: string,
  after: { readonly subject: string; readonly type: string },
  limit: number,
): Query<StoredLeaf[]> {
  return {
    name: 'page_own_leaves',
    text: `select ${listOf(LEAF_ROW)} from log_leaves
      where log_id = $1 and (subject, type) > ($2, $3) order by subject, type limit $4`,
    values: [logId, after.subject, after.type, limit],
    read: all(LEAF_ROW, toLeaf),
  }
}

function toLeaf({ position, ...leaf }: RowOf<typeof LEAF_ROW>): StoredLeaf {
  return { ...leaf, position: Number(position) }
}

/** Finds the tiles at these places. Those that do not exist are left out. Uses the primary key. */
export function findTiles(places: readonly Pick<Tile, 'level' | 'number'>[]): Query<Tile[]> {
  return {
    name: 'find_log_tiles',
    text: `select t.level, t.number, t.hashes
      from unnest($1::integer[], $2::bigint[]) as r (of_level, of_number)
      cross join lateral (select level, number, hashes from log_tiles
        where level = of_level and number = of_number offset 0) t`,
    values: [places.map(({ level }) => level), places.map(({ number }) => number)],
    read: all(pick(tiles, 'level', 'number', 'hashes'), ({ level, number, hashes }) => ({
      level,
      number: Number(number),
      hashes,
    })),
  }
}

/** Stores new tiles, and those that have grown. Uses the primary key. */
export function storeTiles(changedTiles: readonly Tile[]): Query<boolean> {
  return {
    name: 'store_log_tiles',
    text: `insert into log_tiles as t (level, number, hashes)
      select * from unnest($1::integer[], $2::bigint[], $3::bytea[])
      on conflict (level, number) do update set hashes = excluded.hashes`,
    values: [
      changedTiles.map(({ level }) => level),
      changedTiles.map(({ number }) => number),
      changedTiles.map(({ hashes }) => hashes),
    ],
    read: changed,
  }
}

/** The tree as it is now. */
export interface LogHead {
  /** Null before the first leaf. */
  readonly origin: string | null
  readonly size: number
  /** The signed checkpoint of this size. Null before the first leaf. */
  readonly checkpoint: string | null
  /** Verifies the checkpoint. Null before the first leaf, and until the log has grown since public keys are stored. */
  readonly verifierKey: string | null
}

/** Finds the tree as it is now. Uses the primary key. */
export function findLogHead(): Query<LogHead> {
  return {
    name: 'find_log_head',
    text: `select ${listOf(HEAD_ROW)} from log_head where is_only`,
    values: [],
    read: one(HEAD_ROW, toHead),
  }
}

/** Locks the tree, so that nobody else grows it. Uses the primary key. */
export function lockLogHead(): Query<LogHead> {
  return {
    name: 'lock_log_head',
    text: `select ${listOf(HEAD_ROW)} from log_head where is_only for update`,
    values: [],
    read: one(HEAD_ROW, toHead),
  }
}

const HEAD_ROW = pick(head, 'origin', 'size', 'checkpoint', 'verifier_key')

function toHead({ origin, size, checkpoint, verifier_key: verifierKey }: RowOf<typeof HEAD_ROW>): LogHead {
  return { origin, size: Number(size), checkpoint, verifierKey }
}

/** Records that the tree has grown. Uses the primary key. */
export function setLogHead(grown: {
  readonly origin: string
  readonly size: number
  readonly checkpoint: string
  readonly verifierKey: string
}): Query<boolean> {
  return {
    name: 'set_log_head',
    text: 'update log_head set origin = $1, size = $2, checkpoint = $3, verifier_key = $4 where is_only',
    values: [grown.origin, grown.size, grown.checkpoint, grown.verifierKey],
    read: changed,
  }
}

/** Lists at most `limit` leaves that say that a log ended, in the order of the tree. Uses `log_leaves_one_per_change`. */
export function listRestoredLeaves(limit: number): Query<Pick<StoredLeaf, 'position' | 'content'>[]> {
  return {
    name: 'list_restored_leaves',
    text: `select position, content
      from (select position, content from log_leaves where log_id = $1 order by subject, type limit $2) l
      order by position`,
    values: [RESTORED.logId, limit],
    read: all(pick(storedLeaves, 'position', 'content'), ({ position, content }) => ({
      position: Number(position),
      content,
    })),
  }
}

/** Returns whether the log says that the log of this origin ended. Uses `log_leaves_one_per_change`. */
export function hasRestoredLeaf(origin: string): Query<boolean> {
  return {
    name: 'has_restored_leaf',
    text: 'select position from log_leaves where log_id = $1 and type = $2 and subject = $3',
    values: [RESTORED.logId, RESTORED.type, origin],
    read: changed,
  }
}
