import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { Registry } from '@prometheus-io/client'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  openActive,
  openOwned,
  openPending,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { EnclaveRefused, EnclaveUnavailable } from '../../enclave/errors.ts'
import { addBacklogMetrics } from '../../metrics/backlog-metrics.ts'
import type { Context } from '../context.ts'
import { compareGrants } from './compare-grants.ts'
import { COMPARISON_INTERVAL_MS, type Grant } from './grant.ts'

const MINUTE_MS = 60_000

describe('comparing all active grants with the record of the enclave', () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  /** The grants that the log has named, by level. */
  let logged: { readonly error: unknown[]; readonly warn: unknown[] }
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    const error = ({ grant }: { grant?: unknown }): void => void logged.error.push(grant)
    const warn = ({ grant }: { grant?: unknown }): void => void logged.warn.push(grant)
    ctx = { ...given.context, logger: Object.assign(Object.create(given.context.logger), { error, warn }) }
  })
  beforeEach(() => {
    logged = { error: [], warn: [] }
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  test('a raised limit is found a day after the activation, logged and counted, until it is corrected', async () => {
    const { grant } = await open()
    const { grant: other } = await open()
    await change(grant, 'daily_cap_micro = daily_cap_micro * 10')
    await compareAt(COMPARISON_INTERVAL_MS - MINUTE_MS)
    assert.deepEqual([logged.error, await readMetric()], [[], 0])

    await compareAt(COMPARISON_INTERVAL_MS + MINUTE_MS)
    assert.deepEqual([logged.error, await readMetric()], [[grant.id], 1])
    const since = await readSince(grant)
    assert.notEqual(since, null)
    assert.equal(await readSince(other), null)

    await compareAt(2 * COMPARISON_INTERVAL_MS)
    assert.deepEqual(logged.error, [grant.id], 'it was compared less than a day ago')
    await compareAt(3 * COMPARISON_INTERVAL_MS)
    assert.deepEqual([logged.error, await readMetric()], [[grant.id, grant.id], 1])
    assert.deepEqual(await readSince(grant), since)

    await change(grant, 'daily_cap_micro = daily_cap_micro / 10')
    await compareAt(5 * COMPARISON_INTERVAL_MS)
    assert.deepEqual([logged.error.length, await readMetric(), await readSince(grant)], [2, 0, null])
  })

  test('a grant that was active before this was compared is compared at once', async () => {
    const { grant } = await open()
    await readRows(ctx.db, 'update grants set compare_at = default, x402 = true where id = $1', [grant.id])
    await compareAt(0)
    assert.deepEqual([logged.error, await readMetric()], [[grant.id], 1])
    await change(grant, `status = 'revoked', revoked_at = activated_at`)
    assert.equal(await readMetric(), 0, 'a grant that is not active allows nothing')
  })

  test('an active grant that the enclave does not enforce is not counted, but logged', async () => {
    const { owned, grant } = await open()
    await signChange(ctx, owned, { grantId: grant.id, change: 'revoke' })
    await change(grant, `status = 'active', revoked_at = null`)
    await compareAt(6 * COMPARISON_INTERVAL_MS)
    assert.ok(logged.warn.includes(grant.id))
    assert.deepEqual([logged.error, await readMetric()], [[], 0])
    await change(grant, `status = 'revoked', revoked_at = activated_at`)
  })

  test('pending grants are not compared, and no more grants than the limit', async () => {
    await openPending(ctx, await openOwned(ctx))
    await open()
    await open()
    await readRows(ctx.db, 'update grants set compare_at = default')
    const [row] = await readRows(ctx.db, `select count(*)::int4 as active from grants where status = 'active'`)
    const active = Number(row?.['active'])
    assert.ok(active >= 3)
    await compareGrants(ctx, { limit: 2, mayContinue: async () => true })
    assert.equal(await countDue(), active - 2)
    await compareGrants(ctx, { limit: 100, mayContinue: async () => false })
    assert.equal(await countDue(), active - 3, 'it stops after one if it must')
    await compareGrants(ctx, { limit: 100, mayContinue: async () => true })
    assert.equal(await countDue(), 0)
  })

  test('a grant that is revoked before its turn comes is no error', async () => {
    const [{ grant: first }, { owned, grant: second }] = [await open(), await open()]
    for (const [index, { id }] of [first, second].entries()) {
      await readRows(ctx.db, 'update grants set compare_at = $2 where id = $1', [id, new Date(MINUTE_MS * index)])
    }
    const mayContinue = async () => {
      await signChange(ctx, owned, { grantId: second.id, change: 'revoke' })
      return true
    }
    await compareGrants(ctx, { limit: 2, mayContinue })
    assert.deepEqual([logged, await readSince(second)], [{ error: [], warn: [] }, null])
  })

  test('a grant that cannot be compared waits for ten minutes, and does not keep others from being compared', async () => {
    const [{ grant: lost }, { grant: broken }, { grant: raised }] = [await open(), await open(), await open()]
    for (const [index, { id }] of [lost, broken, raised].entries()) {
      const text = 'update grants set compare_at = $2 where id = $1'
      await readRows(ctx.db, text, [id, new Date(MINUTE_MS * index)])
    }
    await change(raised, 'x402 = true')
    const failures = [
      new EnclaveUnavailable({ operation: 'read', status: null, code: 'timeout' }),
      new EnclaveRefused({ operation: 'read', status: 404, code: 'not_found', reason: '' }),
    ]
    const readRules: Context['enclave']['readRules'] = async (slot) => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return await ctx.enclave.readRules(slot)
    }
    const away = { ...ctx, enclave: { ...ctx.enclave, readRules } }
    const compare = async () => await compareGrants(away, { limit: 100, mayContinue: async () => true })
    await assert.rejects(compare(), EnclaveUnavailable)
    assert.deepEqual(logged.error, [])
    await compare()
    assert.deepEqual(logged.error, [broken.id, raised.id])
    assert.deepEqual([await countDue(9 * MINUTE_MS), await countDue(11 * MINUTE_MS)], [0, 2])
    await compareAt(11 * MINUTE_MS)
    assert.deepEqual([await countDue(11 * MINUTE_MS), logged.error.length], [0, 2])
    assert.deepEqual([await readSince(lost), await readSince(broken)], [null, null])
  })

  async function open(): Promise<{ owned: Owned; grant: Grant }> {
    const owned = await openOwned(ctx)
    return { owned, grant: await openActive(ctx, owned) }
  }

  async function change({ id }: Grant, set: string): Promise<void> {
    await readRows(ctx.db, `update grants set ${set} where id = $1`, [id])
  }

  /** Compares all grants that are due so long after now. */
  async function compareAt(ms: number): Promise<void> {
    await compareGrants(later(ctx, ms), { limit: 100, mayContinue: async () => true })
  }

  async function readSince({ id }: Grant): Promise<unknown> {
    return (await readRows(ctx.db, 'select differs_since from grants where id = $1', [id]))[0]?.['differs_since']
  }

  async function countDue(ms = 0): Promise<number> {
    const text = `select count(*)::int4 as due from grants where status = 'active' and compare_at <= $1`
    return Number((await readRows(ctx.db, text, [later(ctx, ms).clock.now()]))[0]?.['due'])
  }

  async function readMetric(): Promise<number> {
    const registry = new Registry()
    await addBacklogMetrics(registry, ctx)()
    const line = /^bursar_grants_differing_from_enclave\{mode="test"\} (\d+)$/m.exec(await registry.metrics())
    return Number(line?.[1] ?? assert.fail('there is no such metric'))
  }
})
