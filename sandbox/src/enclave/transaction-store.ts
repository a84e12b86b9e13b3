import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Hash, Hex } from 'viem'
import type { StatusFault } from './faults.ts'
import type { BroadcastRecord, TransactionRecord, TransactionStatus } from './records.ts'
import type { UserOperation } from './user-operation.ts'

const SCHEMA = `
  create table if not exists sends (
    id text primary key, wallet_id text not null, caip2 text not null, hash text, user_operation_hash text,
    operation text, reference_id text, status text not null, block_number integer, created_at integer not null,
    shown_at integer not null, due_at integer, fault text
  ) strict;
  create index if not exists sends_due on sends (caip2, due_at) where status = 'pending';
  create index if not exists sends_reference on sends (reference_id);
  create index if not exists sends_hash on sends (hash);
  create index if not exists sends_unfinished on sends (caip2, block_number) where status = 'confirmed';
  create table if not exists broadcasts (
    hash text primary key, sender text not null, caip2 text not null, nonce integer not null, raw text not null,
    state text not null, block_number integer
  ) strict;
  -- One nonce is signed once, but for a transaction that is known never to have reached its chain (its row is removed).
  create unique index if not exists broadcasts_nonce on broadcasts (sender, caip2, nonce);
  create index if not exists broadcasts_open on broadcasts (caip2, sender, nonce) where state = 'open';
  create index if not exists broadcasts_block on broadcasts (caip2, block_number);
`

type Row = Record<string, SQLOutputValue>

export interface Outcome {
  readonly status: TransactionStatus
  readonly hash: Hash
  readonly blockNumber: number
}

export interface OpenPosition {
  readonly sender: string
  readonly nonce: number
}

/** Opens the tables of sends and of broadcasts. A broadcast is a signed transaction that contains one or more sends. */
export function openTransactionStore(db: DatabaseSync) {
  db.exec(SCHEMA)
  const statements = {
    addSend: db.prepare(`
      insert into sends
        (id, wallet_id, caip2, hash, user_operation_hash, operation, reference_id, status, created_at, shown_at, due_at, fault)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    deleteSend: db.prepare('delete from sends where id = ?'),
    findSend: db.prepare('select * from sends where id = ?'),
    listReference: db.prepare('select * from sends where reference_id = ? order by created_at, rowid'),
    listSends: db.prepare('select * from sends where hash = ?'),
    listDue: db.prepare(
      "select * from sends where caip2 = ? and status = 'pending' and due_at <= ? order by due_at limit ?",
    ),
    findNextDue: db.prepare("select min(due_at) as due_at from sends where caip2 = ? and status = 'pending'"),
    carry: db.prepare("update sends set hash = ?, status = 'broadcasted' where id = ?"),
    uncarry: db.prepare(
      "update sends set hash = null, block_number = null, status = 'pending', due_at = ? where id = ?",
    ),
    settleSend: db.prepare('update sends set status = ?, hash = ?, block_number = ? where id = ?'),
    finalize: db.prepare(
      "update sends set status = 'finalized' where caip2 = ? and status = 'confirmed' and block_number <= ?",
    ),
    addBroadcast: db.prepare(
      "insert into broadcasts (hash, sender, caip2, nonce, raw, state) values (?, ?, ?, ?, ?, 'open')",
    ),
    deleteBroadcast: db.prepare('delete from broadcasts where hash = ?'),
    closeBroadcast: db.prepare('update broadcasts set state = ?, block_number = ? where hash = ?'),
    findLastNonce: db.prepare('select max(nonce) as nonce from broadcasts where sender = ? and caip2 = ?'),
    listOpen: db.prepare(`
      select hash, sender, caip2, nonce, raw from broadcasts
      where caip2 = ? and state = 'open' and (sender, nonce) > (?, ?)
      order by sender, nonce limit ?`),
    listSenders: db.prepare('select distinct sender from broadcasts where caip2 = ?'),
    reopenNonceSends: db.prepare(`
      update sends set status = 'broadcasted', block_number = null
      where hash in (select hash from broadcasts where sender = ? and caip2 = ? and nonce >= ?)`),
    reopenNonces: db.prepare(`
      update broadcasts set state = 'open', block_number = null where sender = ? and caip2 = ? and nonce >= ?`),
    reopenBlockSends: db.prepare(`
      update sends set status = 'broadcasted', block_number = null
      where hash in (select hash from broadcasts where caip2 = ? and block_number >= ?)`),
    reopenBlocks: db.prepare(`
      update broadcasts set state = 'open', block_number = null where caip2 = ? and block_number >= ?`),
  }

  return {
    addTransaction: (tx: TransactionRecord) =>
      void statements.addSend.run(
        tx.id,
        tx.walletId,
        tx.caip2,
        tx.hash,
        tx.userOperationHash,
        tx.operation === null ? null : JSON.stringify(tx.operation),
        tx.referenceId,
        tx.status,
        tx.createdAt,
        tx.shownAt,
        tx.dueAt,
        tx.fault,
      ),
    deleteTransaction: (id: string) => void statements.deleteSend.run(id),
    findTransaction: (id: string) => parseSend(statements.findSend.get(id)),
    /** Lists the sends with this reference id, oldest first. */
    listByReference: (referenceId: string) =>
      statements.listReference.all(referenceId).flatMap((row) => parseSend(row) ?? []),
    /** Lists the sends that a broadcast contains. */
    listCarried: (hash: Hash) => statements.listSends.all(hash).flatMap((row) => parseSend(row) ?? []),
    /** Lists the user operations that are due for bundling, oldest first. */
    listDue: (caip2: string, nowMs: number, limit: number) =>
      statements.listDue.all(caip2, nowMs, limit).flatMap((row) => parseSend(row) ?? []),
    /** Returns the time when the next user operation is due for bundling, or null. */
    findNextDue(caip2: string): number | null {
      const dueAt = statements.findNextDue.get(caip2)?.['due_at']
      return typeof dueAt === 'number' ? dueAt : null
    },
    /** Records that the broadcast contains these sends. */
    carry: (ids: readonly string[], hash: Hash) => ids.forEach((id) => void statements.carry.run(hash, id)),
    /** Records that the user operation is in no bundle any more. It is bundled again at `dueAt`. */
    uncarry: (id: string, dueAt: number) => void statements.uncarry.run(dueAt, id),
    settleTransaction: (id: string, { status, hash, blockNumber }: Outcome) =>
      void statements.settleSend.run(status, hash, blockNumber, id),
    failTransaction: (id: string, hash: Hash) => void statements.settleSend.run('failed', hash, null, id),
    /** Marks sends as final if they were confirmed in a block up to this one. */
    finalize: (caip2: string, blockNumber: number) => void statements.finalize.run(caip2, blockNumber),

    addBroadcast: ({ hash, sender, caip2, nonce, raw }: BroadcastRecord) =>
      void statements.addBroadcast.run(hash, sender, caip2, nonce, raw),
    deleteBroadcast: (hash: Hash) => void statements.deleteBroadcast.run(hash),
    /** Closes a broadcast. `lost` means that another transaction used its nonce. */
    closeBroadcast: (hash: Hash, state: 'mined' | 'lost', blockNumber: number | null) =>
      void statements.closeBroadcast.run(state, blockNumber, hash),
    /** Returns the highest nonce that was ever signed for the sender on the chain, or null. */
    findLastNonce(sender: string, caip2: string): number | null {
      const nonce = statements.findLastNonce.get(sender, caip2)?.['nonce']
      return typeof nonce === 'number' ? nonce : null
    },
    /**
     * Lists broadcasts that have not been seen in a block yet. They are ordered by sender and nonce, and start after
     * the position `after`.
     */
    listOpen: (caip2: string, after: OpenPosition, limit: number) =>
      statements.listOpen.all(caip2, after.sender, after.nonce, limit).map(parseBroadcast),
    listSenders: (caip2: string) => statements.listSenders.all(caip2).map((row) => String(row['sender'])),
    /**
     * Reopens the sender's transactions from this nonce on. The chain no longer has them, so they must be mined again.
     */
    reopenNonces(sender: string, caip2: string, fromNonce: number): void {
      statements.reopenNonceSends.run(sender, caip2, fromNonce)
      statements.reopenNonces.run(sender, caip2, fromNonce)
    },
    reopenBlocks(caip2: string, fromBlock: number): void {
      statements.reopenBlockSends.run(caip2, fromBlock)
      statements.reopenBlocks.run(caip2, fromBlock)
    },
  }
}

/** Parses a row. Only the enclave writes the rows, so their shape is trusted. */
function parseSend(row: Row | undefined): TransactionRecord | null {
  if (row === undefined) return null
  const textOrNull = (name: string): string | null => (row[name] === null ? null : String(row[name]))
  const operation = textOrNull('operation')
  return {
    id: String(row['id']),
    walletId: String(row['wallet_id']),
    caip2: String(row['caip2']),
    hash: textOrNull('hash') as Hash | null,
    userOperationHash: textOrNull('user_operation_hash') as Hash | null,
    operation: operation === null ? null : (JSON.parse(operation) as UserOperation),
    referenceId: textOrNull('reference_id'),
    status: String(row['status']) as TransactionStatus,
    createdAt: Number(row['created_at']),
    shownAt: Number(row['shown_at']),
    dueAt: row['due_at'] === null ? null : Number(row['due_at']),
    fault: textOrNull('fault') as StatusFault | null,
  }
}

function parseBroadcast(row: Row): BroadcastRecord {
  return {
    hash: String(row['hash']) as Hash,
    sender: String(row['sender']),
    caip2: String(row['caip2']),
    nonce: Number(row['nonce']),
    raw: String(row['raw']) as Hex,
  }
}
