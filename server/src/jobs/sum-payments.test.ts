import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seedPayment } from '../../../test/support/context/payment-rows.ts'
import { seed } from '../../../test/support/context/seed.ts'
import { openTestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { createLogger } from '../lib/logger.ts'
import { sumPayments } from './sum-payments.ts'

const HOURS_5_MS = 5 * 60 * 60_000

test('one of two processes sums; a workspace that cannot be summed is logged, and the others are summed', async (t) => {
  const given = await openTestContext()
  const [ctx, another] = [given.context, given.openAnother()]
  const seeded = [await seed(ctx), await seed(ctx), await seed(ctx)]
  const at = new Date(given.clock.now().getTime() - HOURS_5_MS)
  for (const each of seeded) await seedPayment(ctx, each, { at, status: 'confirmed' })
  const [failing = '', ...others] = seeded.map(({ workspace }) => workspace.id)
  await readRows(ctx.db, `alter table hourly_sums add constraint fault check (workspace_id <> '${failing}')`)

  const logged: unknown[] = []
  const logger = Object.assign(createLogger('silent'), { warn: (fields: unknown) => logged.push(fields) })
  const loops = [
    sumPayments({ ...ctx, logger }, { mode: 'test', holder: 'first' }),
    sumPayments({ ...another, logger }, { mode: 'test', holder: 'second' }),
  ]
  t.after(async () => {
    await Promise.all(loops.map((loop) => loop.stop()))
    await given.close()
  })
  const listSummed = async () => {
    const rows = await readRows(ctx.db, `select workspace_id from hourly_sums where part = 'all' order by workspace_id`)
    return rows.map(({ workspace_id: id }) => String(id))
  }
  await waitFor('the sums', async () => (await listSummed()).length === 2 && logged.length > 0)
  assert.deepEqual(await listSummed(), others.toSorted())
  await Promise.all(loops.map((loop) => loop.stop()))
  const workspaces = logged.map((fields) => (fields as { workspace?: string }).workspace)
  assert.deepEqual(workspaces, [failing])
})
