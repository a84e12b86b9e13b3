import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { makeDataDir, removeDataDir } from '../../test/support/test-enclave.ts'
import { openStore } from './store.ts'

const CAIP2 = 'eip155:84532'

/** The table of transactions in an older version of the enclave, whose sends were not user operations yet. */
const FORMER = `
  create table transactions (
    id text primary key, wallet_id text not null, caip2 text not null, nonce integer not null,
    raw text not null, hash text not null, user_operation_hash text, reference_id text unique,
    status text not null, block_number integer, created_at integer not null
  ) strict;
  insert into transactions values
    ('mined', 'w', '${CAIP2}', 0, '0xa0', '0x00', '0xf0', 'ref-0', 'confirmed', 7, 1000),
    ('open', 'w', '${CAIP2}', 1, '0xa1', '0x01', '0xf1', 'ref-1', 'broadcasted', null, 2000),
    ('lost', 'w', '${CAIP2}', 2, '0xa2', '0x02', null, null, 'failed', null, 3000);
`

test('transactions of an older version are kept: unmined ones are sent again, and the next nonces follow theirs', async (t) => {
  const dataDir = await makeDataDir()
  t.after(() => removeDataDir(dataDir))
  const former = new DatabaseSync(join(dataDir, 'enclave.db'))
  former.exec(FORMER)
  former.close()
  for (const _ of ['migrates', 'is migrated']) {
    const store = openStore(dataDir)
    try {
      const [tx] = store.listByReference('ref-0')
      assert.deepEqual([tx?.id, tx?.status, tx?.hash, tx?.userOperationHash], ['mined', 'confirmed', '0x00', '0xf0'])
      assert.deepEqual([tx?.operation, tx?.fault, tx?.dueAt], [null, null, null])
      const open = store.listOpen(CAIP2, { sender: '', nonce: -1 }, 10)
      assert.deepEqual(open, [{ hash: '0x01', sender: 'w', caip2: CAIP2, nonce: 1, raw: '0xa1' }])
      assert.equal(store.listCarried('0x01')[0]?.id, 'open')
      assert.equal(store.findLastNonce('w', CAIP2), 2)
      assert.equal(store.findTransaction('lost')?.status, 'failed')
    } finally {
      store.close()
    }
  }
})

/** The table of sends in an older version of the enclave, which rejected a second send with the same reference id. */
const UNIQUE = `
  create table sends (
    id text primary key, wallet_id text not null, caip2 text not null, hash text, user_operation_hash text,
    operation text, reference_id text unique, status text not null, block_number integer, created_at integer not null,
    shown_at integer not null, due_at integer, fault text
  ) strict;
  create index sends_due on sends (caip2, due_at) where status = 'pending';
  create index sends_hash on sends (hash);
  create index sends_unfinished on sends (caip2, block_number) where status = 'confirmed';
  insert into sends values ('first', 'w', '${CAIP2}', '0x00', null, null, 'ref', 'confirmed', 7, 1000, 1001, null, null);
`

test('sends of an older version are kept, and a second send may have the reference id of the first', async (t) => {
  const dataDir = await makeDataDir()
  t.after(() => removeDataDir(dataDir))
  const former = new DatabaseSync(join(dataDir, 'enclave.db'))
  former.exec(UNIQUE)
  former.close()
  let known = ['first']
  for (const id of ['second', 'third']) {
    const store = openStore(dataDir)
    try {
      const sends = store.listByReference('ref')
      assert.deepEqual(
        sends.map((tx) => tx.id),
        known,
      )
      const [first] = sends
      assert.ok(first)
      assert.deepEqual([first.status, first.hash, first.createdAt, first.shownAt], ['confirmed', '0x00', 1_000, 1_001])
      store.addTransaction({ ...first, id, createdAt: 2_000 + known.length })
      known = [...known, id]
    } finally {
      store.close()
    }
  }
})
