import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SQLOutputValue } from 'node:sqlite'
import type { Hex } from 'viem'
import type {
  Answer,
  PolicyRecord,
  QuorumRecord,
  TransactionRecord,
  TransactionStatus,
  WalletRecord,
} from './records.ts'

const SCHEMA = `
  create table if not exists quorums (id text primary key, record text not null) strict;
  create table if not exists policies (id text primary key, record text not null) strict;
  create table if not exists wallets (
    id text primary key, external_id text unique, record text not null, sealed_key blob not null
  ) strict;
  create table if not exists transactions (
    id text primary key, wallet_id text not null, caip2 text not null, nonce integer not null,
    raw text not null, hash text not null, user_operation_hash text, reference_id text unique,
    status text not null, block_number integer, created_at integer not null
  ) strict;
  -- One nonce is signed once, but for a transaction that is known never to have reached its chain (its row is removed).
  create unique index if not exists transactions_nonce on transactions (wallet_id, caip2, nonce);
  create index if not exists transactions_open on transactions (caip2, wallet_id, nonce) where status = 'broadcasted';
  create index if not exists transactions_block on transactions (caip2, block_number);
  create table if not exists answers (
    scope text not null, key text not null, body_hash text not null, status integer not null, body text not null,
    created_at integer not null, primary key (scope, key)
  ) strict;
  create index if not exists answers_age on answers (created_at);
`

type Row = Record<string, SQLOutputValue>

export interface StoredAnswer extends Answer {
  readonly bodyHash: string
}

export interface AnswerKey {
  readonly scope: string
  readonly key: string
}

export type Store = ReturnType<typeof openStore>

/** Opens the database of the data directory (0600), alone: what a method has returned from is on disk and survives a kill. */
export function openStore(dataDir: string) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'enclave.db')
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const db = new DatabaseSync(path)
  try {
    db.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full')
    db.exec(SCHEMA)
  } catch (error) {
    throw new Error('The database cannot be opened: another enclave may be running on this data directory.', {
      cause: error,
    })
  }

  const statements = {
    begin: db.prepare('begin immediate'),
    commit: db.prepare('commit'),
    rollback: db.prepare('rollback'),
    putQuorum: db.prepare('insert into quorums (id, record) values (?, ?)'),
    findQuorum: db.prepare('select record from quorums where id = ?'),
    putPolicy: db.prepare(
      'insert into policies (id, record) values (?, ?) on conflict (id) do update set record = excluded.record',
    ),
    findPolicy: db.prepare('select record from policies where id = ?'),
    deletePolicy: db.prepare('delete from policies where id = ?'),
    addWallet: db.prepare('insert into wallets (id, external_id, record, sealed_key) values (?, ?, ?, ?)'),
    updateWallet: db.prepare('update wallets set external_id = ?, record = ? where id = ?'),
    findWallet: db.prepare('select record from wallets where id = ?'),
    findExternalId: db.prepare('select id from wallets where external_id = ?'),
    findSealedKey: db.prepare('select sealed_key from wallets where id = ?'),
    anyWallet: db.prepare('select id from wallets limit 1'),
    addTransaction: db.prepare(`
      insert into transactions
        (id, wallet_id, caip2, nonce, raw, hash, user_operation_hash, reference_id, status, created_at)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    deleteTransaction: db.prepare('delete from transactions where id = ?'),
    findTransaction: db.prepare('select * from transactions where id = ?'),
    findReference: db.prepare('select * from transactions where reference_id = ?'),
    findLastNonce: db.prepare('select max(nonce) as nonce from transactions where wallet_id = ? and caip2 = ?'),
    settleTransaction: db.prepare('update transactions set status = ?, block_number = ? where id = ?'),
    listOpen: db.prepare(`
      select * from transactions
      where caip2 = ? and status = 'broadcasted' and (wallet_id, nonce) > (?, ?)
      order by wallet_id, nonce limit ?`),
    listSpenders: db.prepare('select distinct wallet_id from transactions where caip2 = ?'),
    reopenNonces: db.prepare(`
      update transactions set status = 'broadcasted', block_number = null
      where wallet_id = ? and caip2 = ? and nonce >= ?`),
    reopenBlocks: db.prepare(`
      update transactions set status = 'broadcasted', block_number = null
      where caip2 = ? and block_number >= ?`),
    findAnswer: db.prepare(
      'select body_hash, status, body from answers where scope = ? and key = ? and created_at > ?',
    ),
    putAnswer: db.prepare(`
      insert into answers (scope, key, body_hash, status, body, created_at) values (?, ?, ?, ?, ?, ?)
      on conflict (scope, key) do update set
        body_hash = excluded.body_hash, status = excluded.status, body = excluded.body, created_at = excluded.created_at`),
    purgeAnswers: db.prepare(`
      delete from answers where rowid in (select rowid from answers where created_at <= ? limit ?)`),
  }

  return {
    close: () => db.close(),

    /** Runs `work` as one transaction: all of it, or, when it throws, nothing. */
    inTransaction<T>(work: () => T): T {
      statements.begin.run()
      try {
        const result = work()
        statements.commit.run()
        return result
      } catch (error) {
        statements.rollback.run()
        throw error
      }
    },

    addQuorum: (quorum: QuorumRecord) => void statements.putQuorum.run(quorum.id, JSON.stringify(quorum)),
    findQuorum: (id: string) => parseRecord(statements.findQuorum.get(id)) as QuorumRecord | null,

    putPolicy: (policy: PolicyRecord) => void statements.putPolicy.run(policy.id, JSON.stringify(policy)),
    findPolicy: (id: string) => parseRecord(statements.findPolicy.get(id)) as PolicyRecord | null,
    deletePolicy: (id: string) => void statements.deletePolicy.run(id),

    addWallet: (wallet: WalletRecord, sealedKey: Uint8Array) =>
      void statements.addWallet.run(wallet.id, wallet.external_id ?? null, JSON.stringify(wallet), sealedKey),
    updateWallet: (wallet: WalletRecord) =>
      void statements.updateWallet.run(wallet.external_id ?? null, JSON.stringify(wallet), wallet.id),
    findWallet: (id: string) => parseRecord(statements.findWallet.get(id)) as WalletRecord | null,
    isExternalIdTaken: (externalId: string) => statements.findExternalId.get(externalId) !== undefined,
    hasWallets: () => statements.anyWallet.get() !== undefined,
    getSealedKey(walletId: string): Uint8Array {
      const sealed = statements.findSealedKey.get(walletId)?.['sealed_key']
      if (!(sealed instanceof Uint8Array)) throw new Error(`Wallet ${walletId} has no key.`)
      return sealed
    },

    addTransaction: (tx: TransactionRecord) =>
      void statements.addTransaction.run(
        tx.id,
        tx.walletId,
        tx.caip2,
        tx.nonce,
        tx.raw,
        tx.hash,
        tx.userOperationHash,
        tx.referenceId,
        tx.status,
        tx.createdAt,
      ),
    deleteTransaction: (id: string) => void statements.deleteTransaction.run(id),
    findTransaction: (id: string) => parseTransaction(statements.findTransaction.get(id)),
    findTransactionByReference: (referenceId: string) => parseTransaction(statements.findReference.get(referenceId)),
    /** The highest nonce that was ever signed for the wallet on the chain, or null. */
    findLastNonce(walletId: string, caip2: string): number | null {
      const nonce = statements.findLastNonce.get(walletId, caip2)?.['nonce']
      return typeof nonce === 'number' ? nonce : null
    },
    settleTransaction: (id: string, status: TransactionStatus, blockNumber: number | null) =>
      void statements.settleTransaction.run(status, blockNumber, id),
    /** Transactions not seen mined, ordered by wallet and nonce, from the one after `after`. */
    listOpen: (caip2: string, after: { walletId: string; nonce: number }, limit: number) =>
      statements.listOpen.all(caip2, after.walletId, after.nonce, limit).flatMap((row) => parseTransaction(row) ?? []),
    listSpenders: (caip2: string) => statements.listSpenders.all(caip2).map((row) => String(row['wallet_id'])),
    /** The chain has forgotten these: they wait to be mined again. */
    reopenNonces: (walletId: string, caip2: string, fromNonce: number) =>
      void statements.reopenNonces.run(walletId, caip2, fromNonce),
    reopenBlocks: (caip2: string, fromBlock: number) => void statements.reopenBlocks.run(caip2, fromBlock),

    findAnswer({ scope, key }: AnswerKey, olderThanMs: number): StoredAnswer | null {
      const row = statements.findAnswer.get(scope, key, olderThanMs)
      if (row === undefined) return null
      return {
        bodyHash: String(row['body_hash']),
        status: Number(row['status']),
        body: JSON.parse(String(row['body'])) as unknown,
      }
    },
    putAnswer: ({ scope, key }: AnswerKey, answer: StoredAnswer, nowMs: number) =>
      void statements.putAnswer.run(scope, key, answer.bodyHash, answer.status, JSON.stringify(answer.body), nowMs),
    purgeAnswers: (untilMs: number, rowsMax: number) => void statements.purgeAnswers.run(untilMs, rowsMax),
  }
}

/** Rows hold what this process wrote itself: they are trusted to have the shape. */
function parseRecord(row: Row | undefined): unknown {
  return row === undefined ? null : JSON.parse(String(row['record']))
}

function parseTransaction(row: Row | undefined): TransactionRecord | null {
  if (row === undefined) return null
  const hex = (name: string): Hex => String(row[name]) as Hex
  return {
    id: String(row['id']),
    walletId: String(row['wallet_id']),
    caip2: String(row['caip2']),
    nonce: Number(row['nonce']),
    raw: hex('raw'),
    hash: hex('hash'),
    userOperationHash: row['user_operation_hash'] === null ? null : hex('user_operation_hash'),
    referenceId: row['reference_id'] === null ? null : String(row['reference_id']),
    status: String(row['status']) as TransactionStatus,
    createdAt: Number(row['created_at']),
  }
}
