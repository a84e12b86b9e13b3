import assert from 'node:assert/strict'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { after, before, test } from 'node:test'
import { expectPayment } from '../../../test/support/context/expect-outcome.ts'
import { paymentRequest, seed } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { createPayment } from '../domain/payment-requests/create-payment.ts'
import { createClock } from '../lib/clock.ts'
import { migrate } from './migrate.ts'
import { readMigrations } from './migration.ts'
import { hasMigration, requireSchema } from './require-schema.ts'

/** What a later version may add, on the tables that a payment uses. */
const LATER = {
  '9998_columns.sql': `-- What a later version adds.
lock table payments, grants, wallets, events in access exclusive mode;
alter table payments add column later text;
alter table grants add column later integer not null default 0;
alter table events add column later jsonb;
create table later (id text primary key);`,
  '9999_index.sql': `-- no transaction
create index concurrently if not exists payments_later on payments (later);`,
}

let given: TestContext
let folder: string
before(async () => {
  given = await openTestContext()
  folder = await mkdtemp(join(tmpdir(), 'bursar-later-'))
  await cp(fileURLToPath(new URL('../../migrations/', import.meta.url)), folder, { recursive: true })
  for (const [name, text] of Object.entries(LATER)) await writeFile(join(folder, name), text)
})
after(async () => {
  await given.close()
  await rm(folder, { recursive: true, force: true })
})

test('a process of this version goes on paying while a later version migrates, and is ready on its schema', async () => {
  const processes = [given.context, given.openAnother()]
  const payers = await Promise.all(processes.map((ctx) => seed(ctx)))
  let isMigrated = false
  let paid = 0
  const work = processes.map(async (ctx, index) => {
    const payer = payers[index]
    if (payer === undefined) throw new Error('there is no payer')
    // Each process pays at least once before, and once after the migration.
    for (let left = 2; left > 0; left -= isMigrated ? 1 : 0) {
      expectPayment(await createPayment(ctx, paymentRequest(payer, { amountUsdc: '0.01' })), 'created')
      paid += 1
    }
  })
  while (paid < processes.length) await Promise.race([...work, new Promise(setImmediate)])
  const { url } = given.config.database
  const applied = await migrate(url, createClock(), { folder: pathToFileURL(`${folder}/`) })
  isMigrated = true
  await Promise.all(work)
  assert.deepEqual(applied, ['9998', '9999'])

  await requireSchema(url, createClock())
  const newest = (await readMigrations()).at(-1)?.version ?? ''
  assert.equal(await given.context.db.read(hasMigration(newest)), true)
  assert.deepEqual(await migrate(url, createClock()), [])
})
