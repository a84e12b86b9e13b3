import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDataDir } from '../../sandbox/src/throw-away-sandbox.ts'
import { migrate } from '../../server/src/db/migrate.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { openService } from '../../server/src/service.ts'
import { seed } from '../support/context/seed.ts'
import { openTestContext } from '../support/context/test-context.ts'
import { addStandby, openCluster, REPLICATION, urlOf } from '../support/database/clusters.ts'
import { findFreePort } from '../support/free-port.ts'
import { call } from '../support/http-client.ts'
import { paymentBody } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'

const ORDERS = 60
const BEFORE_LOSS = 20
const CALLERS = 4
/** A key may make 30 payment requests a minute, and callers repeat a request often until the standby is promoted. */
const KEYS = 60

test('the primary of two servers is lost while agents pay: every payment is made once', async (t) => {
  const dir = await makeDataDir()
  const closing = [() => rm(dir, { recursive: true, force: true })]
  t.after(async () => {
    for (const close of closing.toReversed()) await close()
  })
  const database = 'postgres'
  const at = async (name: string) => ({
    dataDir: join(dir, name),
    port: await findFreePort(),
    database,
    durable: false,
  })
  const primary = await openCluster({ ...(await at('primary')), settings: REPLICATION })
  closing.push(async () => primary.kill())
  const standby = await addStandby(primary, await at('standby'))
  closing.push(() => standby.stop())
  const url = urlOf([standby, primary])
  await migrate(url, createClock())
  const given = await openTestContext((config) => ({ ...config, database: { ...config.database, url } }))
  closing.push(() => given.close())
  const seeded = await seed(given.context, { dailyCap: '1000' })
  const scope = { workspaceId: seeded.workspace.id, mode: seeded.mode, actor: OPERATOR }
  const keys: string[] = []
  while (keys.length < KEYS) keys.push((await issueKey(given.context, scope)).secret)
  const service = await openService(given.config)
  closing.push(() => service.stop())

  const paid = new Map<string, string>()
  let begun = 0
  let tries = 0
  const pay = async (order: string): Promise<void> => {
    const body = paymentBody(seeded, { amount_usdc: '0.01', idempotency_key: order })
    const id = await waitFor(`order ${order} is paid`, async () => {
      tries += 1
      const key = keys[tries % KEYS] ?? ''
      const answer = await call(`http://127.0.0.1:${service.ports[0]}`, 'POST', '/v1/payments', { key, body })
      if (answer.status >= 500) return null
      assert.equal(answer.status, 201, answer.text)
      return answer.body.payment.id
    })
    paid.set(order, id)
  }
  const callers = Array.from({ length: CALLERS }, async () => {
    while (begun < ORDERS) await pay(`order-${(begun += 1)}`)
  })
  const lost = waitFor('some orders are paid', () => paid.size >= BEFORE_LOSS).then(async () => {
    primary.kill()
    await standby.query('select pg_promote()')
  })
  await Promise.all([...callers, lost])

  assert.equal(new Set(paid.values()).size, ORDERS)
  const rows = await standby.query('select idempotency_key, id from payments')
  assert.deepEqual(
    new Map(rows.map((row) => [row['idempotency_key'], row['id']])),
    new Map([...paid].toSorted(([left], [right]) => left.localeCompare(right))),
  )
  assert.equal(rows.length, ORDERS)
  assert.equal(given.enclave.accepted.size, ORDERS)
})
