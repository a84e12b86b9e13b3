import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import type { LostChange } from '../../../../test/support/wires/enclave-proxy.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeUnsigned,
  listEnforced,
  openActive,
  openNext,
  openOwned,
  openPair,
  openPending,
  readFates,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { seedOwner } from '../../../../test/support/context/people.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { agent } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { createAgent } from '../agents/create-agent.ts'
import type { Context } from '../context.ts'
import { getGrant } from './queries.ts'
import type { Grant, GrantChange } from './grant.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { suspendGrant } from './suspend-grant.ts'

const FENCE_MS = SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS
const EXPIRED = 401
const UNDER_WAY = { status: 409, code: 'signer_change_under_way' } as const

/** If the enclave's response is lost, the request may still take effect until it has expired (decision 0022). */
describe("the enclave's response to a signed request is lost", () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    ctx = given.context
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  test('until the request can no longer take effect, other changes are rejected with the time to retry', async () => {
    const { owned, old, next } = await openPair(ctx)
    await loseChange(owned, next, 'activate')
    const expiresAt = (await read(owned, next)).signingRequest?.expiresAt
    const retryAt = new Date((expiresAt?.getTime() ?? 0) + SIGNATURE_FENCE_MARGIN_MS).toISOString()
    const refused = { ...UNDER_WAY, details: { retry_at: retryAt } }
    const almost = later(ctx, FENCE_MS - 10_000)
    for (const at of [ctx, almost]) {
      await assert.rejects(changeUnsigned(at, owned, { grantId: next.id, change: 'revoke' }), refused)
      await assert.rejects(signChange(at, owned, { grantId: old.id, change: 'revoke' }), refused)
      await assert.rejects(openNext(at, owned, old), refused)
    }
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['pending', null],
    ])
  })

  test('a request that takes effect late is recorded at once and attributed to the user who submitted it', async () => {
    const { owned, old, next } = await openPair(ctx)
    const lost = await loseChange(owned, next, 'activate')
    assert.equal(await lost.arrive(), 200)
    const finder = await join(owned)
    const recorded = await changeUnsigned(ctx, finder, { grantId: next.id, change: 'activate' })
    assert.deepEqual([recorded.status, recorded.activatedBy], ['active', owned.actor.id])
    assert.deepEqual(await readFates(ctx, owned, [old]), [['revoked', next.id]])
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
    const moves = (await readAudit(ctx.db, owned.workspaceId)).slice(-2)
    assert.deepEqual(
      moves.map((row) => row['actor_id']),
      [owned.actor.id, owned.actor.id],
    )
  })

  test('the same signature can be submitted again at once, and other changes still wait until the first request has expired', async () => {
    const { owned, old, next } = await openPair(ctx)
    const lost = await loseChange(owned, next, 'activate')
    const signed = await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.equal(signed.status, 'active')
    await assert.rejects(signChange(ctx, owned, { grantId: next.id, change: 'revoke' }), UNDER_WAY)
    assert.equal(await lost.arrive(), 200)
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
    await passFence(async (then) => {
      await signChange(then, owned, { grantId: next.id, change: 'revoke' })
      assert.equal(await lost.arrive(), EXPIRED)
      assert.deepEqual(await listEnforced(ctx, owned), [])
    })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', next.id],
      ['revoked', null],
    ])
  })

  test('a dropped replacement does not take effect later', async () => {
    const { owned, old, next } = await openPair(ctx)
    const lost = await loseChange(owned, next, 'activate')
    await passFence(async (then) => {
      await changeUnsigned(then, owned, { grantId: next.id, change: 'revoke' })
      assert.equal(await lost.arrive(), EXPIRED)
    })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['revoked', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
  })

  test('after all grants were revoked, none of them takes effect again', async () => {
    const { owned, old, next } = await openPair(ctx)
    const lost = await loseChange(owned, next, 'activate')
    await passFence(async (then) => {
      await signChange(then, owned, { grantId: old.id, change: 'revoke' })
      await changeUnsigned(then, owned, { grantId: next.id, change: 'revoke' })
      assert.equal(await lost.arrive(), EXPIRED)
    })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', null],
      ['revoked', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [])
  })

  test("a late activation for one agent does not undo the revocation of another agent's grant, although the request repeats the signer of that agent", async () => {
    const owned = await openOwned(ctx)
    const one = await openActive(ctx, owned)
    const other = { ...owned, agentId: agent('other') }
    await createAgent(ctx, { workspaceId: owned.workspaceId, mode: owned.mode, id: other.agentId, actor: OPERATOR })
    const late = await openPending(ctx, other)
    const lost = await loseChange(other, late, 'activate')
    await assert.rejects(signChange(ctx, owned, { grantId: one.id, change: 'revoke' }), UNDER_WAY)
    await passFence(async (then) => {
      await signChange(then, owned, { grantId: one.id, change: 'revoke' })
      assert.equal(await lost.arrive(), EXPIRED)
    })
    assert.deepEqual(await readFates(ctx, owned, [one, late]), [
      ['revoked', null],
      ['pending', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [])
  })

  test('a suspension never has to wait, and a request that takes effect later does not lift it', async () => {
    const { owned, old, next } = await openPair(ctx)
    const lost = await loseChange(owned, next, 'activate')
    const stopped = await suspendGrant(ctx, { workspaceId: owned.workspaceId, grantId: old.id, actor: owned.actor })
    await assert.rejects(signChange(ctx, owned, { grantId: next.id, change: 'activate' }), UNDER_WAY)
    await lost.arrive()
    const recorded = await changeUnsigned(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual([recorded.status, recorded.suspendedAt], ['active', stopped.suspendedAt])
  })

  test('a revocation whose response was lost is recorded at once', async () => {
    const owned = await openOwned(ctx)
    const grant = await openActive(ctx, owned)
    const lost = await loseChange(owned, grant, 'revoke')
    await lost.arrive()
    const recorded = await changeUnsigned(ctx, await join(owned), { grantId: grant.id, change: 'revoke' })
    assert.equal(recorded.status, 'revoked')
    assert.equal((await readAudit(ctx.db, owned.workspaceId)).at(-1)?.['actor_id'], owned.actor.id)
  })

  test('after the enclave rejected a request, another change can follow at once', async () => {
    const { owned, old, next } = await openPair(ctx)
    const ahead = FENCE_MS
    await enclave.moveClock(ahead)
    try {
      await assert.rejects(signChange(ctx, owned, { grantId: next.id, change: 'activate' }), { name: 'EnclaveRefused' })
    } finally {
      await enclave.moveClock(0)
    }
    await signChange(ctx, owned, { grantId: old.id, change: 'revoke' })
    assert.deepEqual(await listEnforced(ctx, owned), [])
  })

  test('after the enclave rejected the same signature the second time, other changes still wait for the first request', async () => {
    const { owned, old, next } = await openPair(ctx)
    await loseChange(owned, next, 'activate')
    await enclave.moveClock(FENCE_MS)
    try {
      await assert.rejects(signChange(ctx, owned, { grantId: next.id, change: 'activate' }), { name: 'EnclaveRefused' })
    } finally {
      await enclave.moveClock(0)
    }
    await assert.rejects(signChange(ctx, owned, { grantId: old.id, change: 'revoke' }), UNDER_WAY)
  })

  test('a signer that is still listed under the policy of a revoked grant can be removed with a signature', async () => {
    const { owned, old, next } = await openPair(ctx)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    // Create a state that could occur before changes had to wait for a lost request to expire: the old grant is active
    // in our records, but the enclave enforces the new one.
    await readRows(ctx.db, `update grants set status = 'revoked', revoked_at = created_at where id = $1`, [next.id])
    const text = `update grants set status = 'active', revoked_at = null, replaced_by = null where id = $1`
    await readRows(ctx.db, text, [old.id])
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
    await signChange(ctx, owned, { grantId: old.id, change: 'revoke' })
    assert.deepEqual(await readFates(ctx, owned, [old]), [['revoked', null]])
    assert.deepEqual(await listEnforced(ctx, owned), [])
  })

  test('a lease that was written before the clock was set back blocks nobody', async () => {
    const { owned, old, next } = await openPair(ctx)
    await loseChange(owned, next, 'activate', later(ctx, 24 * 60 * 60 * 1_000))
    await signChange(ctx, owned, { grantId: old.id, change: 'revoke' })
    assert.deepEqual(await listEnforced(ctx, owned), [])
  })

  test('of many concurrent replacements, none changes anything at the enclave before it is signed', async () => {
    const owned = await openOwned(ctx)
    const old = await openActive(ctx, owned)
    const count = () => enclave.proxy.requests.filter(({ method }) => method !== 'GET').length
    const before = count()
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => openNext(ctx, owned, old)))
    const made = outcomes.filter(({ status }) => status === 'fulfilled').length
    assert.ok(made > 0)
    assert.equal(count(), before)
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
  })

  async function loseChange(owned: Owned, grant: Grant, change: GrantChange, at = ctx): Promise<LostChange> {
    const lost = enclave.proxy.loseChange()
    await assert.rejects(signChange(at, owned, { grantId: grant.id, change }), EnclaveUnavailable)
    return lost
  }

  /** Runs `work` at a time when the lost request has expired, by the clocks of both the service and the enclave. */
  async function passFence(work: (then: Context) => Promise<void>): Promise<void> {
    await enclave.moveClock(FENCE_MS)
    try {
      await work(later(ctx, FENCE_MS))
    } finally {
      await enclave.moveClock(0)
    }
  }

  /** Adds another member to the workspace, who then acts in the returned fixture. */
  async function join(owned: Owned): Promise<Owned> {
    const workspace = await ctx.db.read(lockWorkspace(owned.workspaceId))
    assert.ok(workspace !== null)
    const { userId } = await seedOwner(ctx, workspace, 'admin')
    return { ...owned, actor: { kind: 'user', id: userId } }
  }

  function read({ workspaceId }: Owned, { id: grantId }: Grant): Promise<Grant> {
    return getGrant(ctx, { workspaceId, grantId })
  }
})
