import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openSandboxEnclave } from '../../../../test/support/context/enclave-context.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeUnsigned,
  listEnforced,
  makeTerms,
  openOwned,
  openPair,
  openPending,
  signAndCrash,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { getGrant } from './queries.ts'
import type { GrantChange } from './grant.ts'
import { issueSigningRequest } from './issue-signing-request.ts'
import { SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { submitSignature } from './submit-signature.ts'
import { suspendGrant } from './suspend-grant.ts'

const STALE = { status: 409, code: 'signing_request_stale' } as const

describe('issueSigningRequest', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('returns the same request until half of its lifetime is over', async () => {
    const { owned, grantId } = await open()
    const first = await ask(owned, grantId)
    const half = SIGNING_REQUEST_MS / 2
    assert.deepEqual(await ask(owned, grantId, later(ctx, half - 5_000)), first)
    const second = await ask(owned, grantId, later(ctx, half + 1))
    assert.notDeepEqual(second, first)
    await assert.rejects(submit(owned, grantId, first), STALE)
    assert.equal((await submit(owned, grantId, second)).status, 'active')
  })

  test('returns a different request for a different change', async () => {
    const { owned, old, next } = await openPair(ctx)
    const first = await ask(owned, old.id, ctx, 'revoke')
    assert.notDeepEqual(await ask(owned, next.id), first)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    await assert.rejects(submit(owned, old.id, first), { status: 409, code: 'grant_revoked' })
  })

  test('a signed request lifts a suspension only if the request was prepared after the suspension', async () => {
    const { owned, old, next } = await openPair(ctx)
    const before = await ask(owned, next.id)
    await suspendGrant(ctx, { workspaceId: owned.workspaceId, grantId: old.id, actor: owned.actor })
    await assert.rejects(submit(owned, next.id, before), STALE)
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
    const knowing = await ask(owned, next.id)
    assert.notDeepEqual(knowing, before)
    const signed = await submit(owned, next.id, knowing)
    assert.deepEqual([signed.status, signed.suspendedAt], ['active', null])
  })

  test("a suspension stays in force if it comes after the enclave's change but before we record this change", async () => {
    const { owned, old, next } = await openPair(ctx)
    await signAndCrash(ctx, owned, { grantId: next.id, change: 'activate' })
    const stopped = await suspendGrant(ctx, { workspaceId: owned.workspaceId, grantId: old.id, actor: owned.actor })
    const recorded = await changeUnsigned(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual([recorded.status, recorded.suspendedAt], ['active', stopped.suspendedAt])
  })

  test('a request to suspend a replaced grant fails, and the error names the grant that replaced it', async () => {
    const { owned, old, next } = await openPair(ctx)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    const { workspaceId, actor } = owned
    const told = { status: 409, code: 'grant_revoked', details: { replaced_by: next.id } }
    await assert.rejects(suspendGrant(ctx, { workspaceId, grantId: old.id, actor }), told)
    await assert.rejects(issueSigningRequest(ctx, { workspaceId, grantId: old.id, change: 'revoke', actor }), told)
  })

  test('a grant that was never signed cannot be suspended', async () => {
    const { owned, grantId } = await open()
    const asked = { workspaceId: owned.workspaceId, grantId, actor: owned.actor }
    await assert.rejects(suspendGrant(ctx, asked), { status: 409, code: 'grant_not_active' })
    const signed = await signChange(ctx, owned, { grantId, change: 'activate' })
    assert.deepEqual([signed.status, signed.suspendedAt], ['active', null])
  })

  test('an expired grant can be revoked, but not activated', async () => {
    const owned = await openOwned(ctx)
    const { id } = await openPending(ctx, owned, makeTerms(1, { expiresAt: new Date(Date.now() + 60_000) }))
    const over = later(ctx, 60_000)
    await assert.rejects(ask(owned, id, over), {
      status: 400,
      type: 'validation_failed',
      details: [{ path: 'expires_at', message: '`expires_at` is in the past. Create another grant.' }],
    })
    assert.equal((await changeUnsigned(over, owned, { grantId: id, change: 'revoke' })).status, 'revoked')
  })

  test('a change made before a crash is attributed to the user who submitted it, or to the operator if unknown', async () => {
    for (const isKnown of [true, false]) {
      const { owned, grantId } = await open()
      await signAndCrash(ctx, owned, { grantId, change: 'activate' })
      if (!isKnown) await readRows(ctx.db, 'update grants set signing_request = null where id = $1', [grantId])
      const { workspaceId, actor } = owned
      const key = { kind: 'key', id: 'key_finder' } as const
      const { grant } = await issueSigningRequest(ctx, { workspaceId, grantId, change: 'activate', actor: key })
      assert.deepEqual([grant.status, grant.activatedBy], ['active', isKnown ? actor.id : null])
      const row = (await readAudit(ctx.db, workspaceId)).at(-1)
      assert.deepEqual(
        [row?.['action'], row?.['actor_kind'], row?.['actor_id']],
        ['grant.activated', ...(isKnown ? ['user', actor.id] : ['operator', null])],
      )
    }
  })

  async function open(): Promise<{ owned: Owned; grantId: string }> {
    const owned = await openOwned(ctx)
    return { owned, grantId: (await openPending(ctx, owned)).id }
  }

  async function ask(owned: Owned, grantId: string, at = ctx, change: GrantChange = 'activate'): Promise<Uint8Array> {
    const { workspaceId, actor } = owned
    const { request } = await issueSigningRequest(at, { workspaceId, grantId, change, actor })
    assert.ok(request !== null)
    assert.ok((await getGrant(ctx, { workspaceId, grantId })).signingRequest !== null)
    return request.payload
  }

  async function submit({ workspaceId, owner, actor }: Owned, grantId: string, challenge: Uint8Array) {
    return await submitSignature(ctx, { workspaceId, grantId, assertion: owner.assert(challenge), actor })
  }
})
