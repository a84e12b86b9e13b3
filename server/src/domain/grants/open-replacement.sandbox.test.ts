import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../audit/audit-entry.ts'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openSandboxEnclave } from '../../../../test/support/context/enclave-context.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeUnsigned,
  listEnforced,
  listGrantEvents,
  makeTerms,
  openActive,
  openNext,
  openOwned,
  openPair,
  openPending,
  readFates,
  signChange,
} from '../../../../test/support/context/grant-fixture.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { address } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { microUsdc } from '../../values/money.ts'
import { getAgent } from '../agents/queries.ts'
import type { Context } from '../context.ts'
import { getGrant } from './queries.ts'
import { describeTerms } from './record-status-change.ts'
import { issueSigningRequest } from './issue-signing-request.ts'
import { openReplacement } from './open-replacement.ts'
import { countLiveGrants, findFreeSlot } from './grants-store.ts'
import { submitSignature } from './submit-signature.ts'
import { suspendGrant } from './suspend-grant.ts'

const HOUR_MS = 60 * 60 * 1_000
const NOTHING_TO_REPLACE = { status: 409, code: 'grant_not_active' } as const

/** Replacing a grant with one signature (D14), against the sandbox's enclave. */
describe('a policy is replaced with one signature', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('the new grant is in force from the signature on, and the old one has ended', async () => {
    const { owned, old, next } = await openPair(ctx)
    assert.deepEqual(
      [next.status, next.replaces, next.agentId, next.walletAddress, next.maxPerTxMicro],
      ['pending', old.id, old.agentId, old.walletAddress, microUsdc(2_000_000n)],
    )
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
    const signed = await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual([signed.status, signed.replaces, signed.activatedBy], ['active', old.id, owned.actor.id])
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
    const over = await getGrant(ctx, { workspaceId: owned.workspaceId, grantId: old.id })
    assert.deepEqual([over.status, over.replacedBy], ['revoked', next.id])
    assert.deepEqual(over.revokedAt, signed.activatedAt)
  })

  test('both changes are sent as events in order, and are logged', async () => {
    const { owned, old, next } = await openPair(ctx)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual(await listGrantEvents(ctx, owned), [
      ['permission.granted', old.id],
      ['permission.revoked', old.id],
      ['permission.granted', next.id],
    ])
    const by = { actor_kind: 'user', actor_id: owned.actor.id }
    const details = { mode: 'test', agent_id: owned.agentId, wallet: owned.wallet.address }
    const rows = (await readAudit(ctx.db, owned.workspaceId)).slice(-3)
    assert.deepEqual(rows[0], {
      ...{ ...by, action: 'grant.opened', subject: next.id },
      details: { ...details, replaces: old.id },
    })
    // Both events have the same time, so neither is reliably the first.
    const moves = rows.slice(1).toSorted((left, right) => (left['action'] < right['action'] ? -1 : 1))
    assert.deepEqual(moves, [
      {
        ...{ ...by, action: 'grant.activated', subject: next.id },
        details: { ...details, ...describeTerms(next), replaces: old.id },
      },
      { ...by, action: 'grant.revoked', subject: old.id, details: { ...details, replaced_by: next.id } },
    ])
  })

  test("until then the agent has one active and one pending grant, which use one of the wallet's slots", async () => {
    const { owned, old, next } = await openPair(ctx)
    const { workspaceId, mode, agentId, wallet } = owned
    const found = await getAgent(ctx, { workspaceId, mode, id: agentId })
    assert.deepEqual([found.activeSigners, found.pendingSigners], [1, 1])
    assert.deepEqual(
      found.wallets.map(({ maxPerTxMicro }) => maxPerTxMicro),
      [1_000_000n],
    )
    const live = await ctx.db.read(countLiveGrants(workspaceId, mode, wallet.address, agentId))
    assert.equal(live, 2)
    assert.deepEqual([old.slot, next.slot], [1, 1])
    assert.equal(await ctx.db.read(findFreeSlot(workspaceId, mode, wallet.address)), 2)
  })

  for (const state of ['suspended', 'expired'] as const) {
    test(`one that is ${state} is replaced by an active one`, async () => {
      const owned = await openOwned(ctx)
      const expiresAt = new Date(Date.now() + HOUR_MS)
      const old = await openActive(ctx, owned, makeTerms(1, state === 'expired' ? { expiresAt } : {}))
      const asked = { workspaceId: owned.workspaceId, grantId: old.id, actor: owned.actor }
      if (state === 'suspended') await suspendGrant(ctx, asked)
      const then = state === 'expired' ? later(ctx, HOUR_MS) : ctx
      const next = await openReplacement(then, { ...asked, terms: makeTerms(2) })
      const signed = await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
      assert.deepEqual([signed.status, signed.suspendedAt, signed.expiresAt], ['active', null, null])
      assert.deepEqual(await readFates(ctx, owned, [old]), [['revoked', next.id]])
    })
  }

  test('a replacement allows the same contracts unless others are given', async () => {
    const owned = await openOwned(ctx)
    const contractAllowlist = [address(`0x${'ab'.repeat(20)}`)]
    const old = await openActive(ctx, owned, makeTerms(1, { contractAllowlist }))
    const next = await openNext(ctx, owned, old)
    assert.deepEqual(next.contractAllowlist, contractAllowlist)
  })

  test('dropping a replacement before it was signed leaves the old grant unchanged, also at the enclave', async () => {
    const { owned, old, next } = await openPair(ctx)
    const dropped = await changeUnsigned(ctx, owned, { grantId: next.id, change: 'revoke' })
    assert.equal(dropped.status, 'revoked')
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['revoked', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
  })

  test('another replacement drops the pending one', async () => {
    const { owned, old, next } = await openPair(ctx)
    const { request } = await issueSigningRequest(ctx, {
      workspaceId: owned.workspaceId,
      grantId: next.id,
      change: 'activate',
      actor: OPERATOR,
    })
    const last = await openNext(ctx, owned, old, makeTerms(3))
    assert.deepEqual(await readFates(ctx, owned, [old, next, last]), [
      ['active', null],
      ['revoked', null],
      ['pending', null],
    ])
    assert.ok(request !== null)
    const late = { workspaceId: owned.workspaceId, grantId: next.id, assertion: owned.owner.assert(request.payload) }
    await assert.rejects(submitSignature(ctx, { ...late, actor: OPERATOR }), { status: 409, code: 'grant_revoked' })
    await signChange(ctx, owned, { grantId: last.id, change: 'activate' })
    assert.deepEqual(await listEnforced(ctx, owned), [last.id])
  })

  test('a signature submitted while the grant is being dropped changes nothing at the enclave', async () => {
    const { owned, old, next } = await openPair(ctx)
    const { workspaceId, actor, owner } = owned
    const { request } = await issueSigningRequest(ctx, { workspaceId, grantId: next.id, change: 'activate', actor })
    assert.ok(request !== null)
    const assertion = owner.assert(request.payload)
    let submitted: Promise<unknown> = Promise.resolve()
    await ctx.db.transaction(async (transaction) => {
      const held = 'select 1 from wallets where address = $1 for update'
      await transaction.run({ name: '', text: held, values: [owned.wallet.address], read: () => null })
      submitted = assert.rejects(submitSignature(ctx, { workspaceId, grantId: next.id, assertion, actor }), {
        status: 409,
        code: 'grant_revoked',
      })
      await waitForWaiting(1)
      const drop = "update grants set status = 'revoked', revoked_at = created_at where id = $1"
      await transaction.run({ name: '', text: drop, values: [next.id], read: () => null })
    })
    await submitted
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
  })

  test('a replacement is an ordinary grant once the old one was revoked', async () => {
    const { owned, old, next } = await openPair(ctx)
    await signChange(ctx, owned, { grantId: old.id, change: 'revoke' })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', null],
      ['pending', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [])
    await assert.rejects(openPending(ctx, owned), { status: 409, code: 'grant_exists' })
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', null],
      ['active', null],
    ])
  })

  test('of ten concurrent replacements one is pending in the end, and the other callers get an error', async () => {
    const owned = await openOwned(ctx)
    const old = await openActive(ctx, owned)
    const processes = [ctx, given.openAnother()] as const
    await openConnections(processes[0].db, processes[1].db)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        openReplacement(processes[index % 2 === 0 ? 0 : 1], {
          workspaceId: owned.workspaceId,
          grantId: old.id,
          terms: makeTerms(index + 1),
          actor: owned.actor,
        }),
      ),
    )
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        assert.equal((outcome.reason as { code?: string }).code, 'signer_change_under_way')
      }
    }
    const made = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    assert.ok(made.length > 0)
    const fates = await readFates(ctx, owned, made)
    assert.equal(fates.filter(([status]) => status === 'pending').length, 1)
    assert.equal(fates.filter(([status]) => status === 'revoked').length, made.length - 1)
    assert.deepEqual(await readFates(ctx, owned, [old]), [['active', null]])
  })

  test('of two who sign at once, the agent ends under one policy, and the record is what the enclave enforces', async () => {
    const { owned, old, next } = await openPair(ctx)
    const { workspaceId, actor, owner } = owned
    const requests = await Promise.all([
      issueSigningRequest(ctx, { workspaceId, grantId: old.id, change: 'revoke', actor }),
      issueSigningRequest(ctx, { workspaceId, grantId: next.id, change: 'activate', actor }),
    ])
    await Promise.allSettled(
      [old, next].map(async ({ id }, index) => {
        const request = requests[index]?.request ?? null
        assert.ok(request !== null)
        await submitSignature(ctx, { workspaceId, grantId: id, assertion: owner.assert(request.payload), actor })
      }),
    )
    const grants = [old, next]
    const fates = await readFates(ctx, owned, grants)
    const active = grants.filter((_, index) => fates[index]?.[0] === 'active')
    assert.deepEqual(
      await listEnforced(ctx, owned),
      active.map(({ id }) => id),
    )
    assert.equal(fates[0]?.[0], 'revoked', 'both changes end the old one')
  })

  test('only an active grant can be replaced', async () => {
    const owned = await openOwned(ctx)
    const pending = await openPending(ctx, owned)
    await assert.rejects(openNext(ctx, owned, pending), NOTHING_TO_REPLACE)
    await changeUnsigned(ctx, owned, { grantId: pending.id, change: 'revoke' })
    await assert.rejects(openNext(ctx, owned, pending), NOTHING_TO_REPLACE)
    const { owned: other, old, next } = await openPair(ctx)
    await signChange(ctx, other, { grantId: next.id, change: 'activate' })
    await assert.rejects(openNext(ctx, other, old), NOTHING_TO_REPLACE)
    for (const [by, id] of [
      [owned, next.id],
      [owned, `grt_${'0'.repeat(26)}`],
      [owned, 'grt_'],
    ] as const) {
      await assert.rejects(openNext(ctx, by, { id }), { status: 404 })
    }
  })

  test('terms that are not allowed are rejected, and the pending replacement stays', async () => {
    const { owned, old, next } = await openPair(ctx)
    const many = Array.from({ length: 101 }, () => owned.wallet.address)
    const terms = [{ expiresAt: new Date(0) }, { recipientAllowlist: many }, { contractAllowlist: [] }]
    for (const change of terms) {
      await assert.rejects(openNext(ctx, owned, old, makeTerms(1, change)), { status: 400, type: 'validation_failed' })
    }
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['pending', null],
    ])
  })

  test('while the agent has a pending or active grant, no other one can be opened', async () => {
    const { owned, next } = await openPair(ctx)
    await assert.rejects(openPending(ctx, owned), { status: 409, code: 'grant_exists' })
    await changeUnsigned(ctx, owned, { grantId: next.id, change: 'revoke' })
    await assert.rejects(openPending(ctx, owned), { status: 409, code: 'grant_exists' })
  })

  async function waitForWaiting(count: number): Promise<void> {
    const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await waitFor('it waits for the lock', async () => (await readRows(ctx.db, text)).length === count)
  }
})
