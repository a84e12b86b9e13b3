import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SQLOutputValue } from 'node:sqlite'
import type { Answer, PolicyRecord, QuorumRecord, WalletRecord } from './records.ts'
import { openTransactionStore } from './transaction-store.ts'

const SCHEMA = `
  create table if not exists quorums (id text primary key, record text not null) strict;
  create table if not exists policies (id text primary key, record text not null) strict;
  create table if not exists wallets (
    id text primary key, external_id text unique, record text not null, sealed_key blob not null
  ) strict;
  create table if not exists keys (name text primary key, sealed_key blob not null) strict;
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

/**
 * Opens the database in the data directory (0600). No other process can open it at the same time. When a method
 * returns, its changes are on disk and survive a kill of the process.
 */
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
    putQuorum: db.prepare(
      'insert into quorums (id, record) values (?, ?) on conflict (id) do update set record = excluded.record',
    ),
    findQuorum: db.prepare('select record from quorums where id = ?'),
    deleteQuorum: db.prepare('delete from quorums where id = ?'),
    // In a record, a quorum's id between quotes is always an owner or a signer.
    findQuorumUse: db.prepare(`
      select 1 from wallets where instr(record, ?1) > 0 union all select 1 from policies where instr(record, ?1) > 0
      limit 1`),
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
    addKey: db.prepare('insert into keys (name, sealed_key) values (?, ?)'),
    findKey: db.prepare('select sealed_key from keys where name = ?'),
    findAnswer: db.prepare(
      'select body_hash, status, body from answers where scope = ? and key = ? and created_at > ?',
    ),
    putAnswer: db.prepare(`
      insert into answers (scope, key, body_hash, status, body, created_at) values (?, ?, ?, ?, ?, ?)
      on conflict (scope, key) do update set
        body_hash = excluded.body_hash, status = excluded.status, body = excluded.body, created_at = excluded.created_at`),
    forgetAnswers: db.prepare('delete from answers'),
    purgeAnswers: db.prepare(`
      delete from answers where rowid in (select rowid from answers where created_at <= ? limit ?)`),
  }

  return {
    ...openTransactionStore(db),
    close: () => db.close(),

    /** Runs `work` as one transaction. If `work` throws, nothing is changed. */
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

    putQuorum: (quorum: QuorumRecord) => void statements.putQuorum.run(quorum.id, JSON.stringify(quorum)),
    findQuorum: (id: string) => parseRecord(statements.findQuorum.get(id)) as QuorumRecord | null,
    deleteQuorum: (id: string) => void statements.deleteQuorum.run(id),
    isQuorumUsed: (id: string) => statements.findQuorumUse.get(JSON.stringify(id)) !== undefined,

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

    addKey: (name: string, sealedKey: Uint8Array) => void statements.addKey.run(name, sealedKey),
    findKey(name: string): Uint8Array | null {
      const sealed = statements.findKey.get(name)?.['sealed_key']
      return sealed instanceof Uint8Array ? sealed : null
    },

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
    forgetAnswers: () => void statements.forgetAnswers.run(),
    purgeAnswers: (untilMs: number, rowsMax: number) => void statements.purgeAnswers.run(untilMs, rowsMax),
  }
}

/** Parses a row's record. Only the enclave writes the rows, so their shape is trusted. */
function parseRecord(row: Row | undefined): unknown {
  return row === undefined ? null : JSON.parse(String(row['record']))
}
