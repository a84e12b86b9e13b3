import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeUnsigned,
  listEnforced,
  openNext,
  openPair,
  readFates,
  signAndCrash,
  signChange,
} from '../../../../test/support/context/grant-fixture.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { issueSigningRequest } from './issue-signing-request.ts'
import { submitSignature } from './submit-signature.ts'
import { SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'

const POLICY_PATH = /^\/v1\/policies\/[^/]+$/
const LEASE_MS = 60_000
const UNDER_WAY = { status: 409, code: 'signer_change_under_way' } as const

/** When the lease on a wallet's signers has expired, another caller can take it (decision 0022). */
describe('the enclave responds so slowly that the lease expires', () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  let then: Context
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    ctx = given.context
    then = later(ctx, LEASE_MS + 1_000)
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  test('a grant that another caller dropped in this time is not activated', async () => {
    const { owned, old, next } = await openPair(ctx)
    const { workspaceId, actor } = owned
    const { request } = await issueSigningRequest(ctx, { workspaceId, grantId: next.id, change: 'activate', actor })
    assert.ok(request !== null)
    const hold = enclave.proxy.hold('answer', POLICY_PATH)
    const assertion = owned.owner.assert(request.payload)
    const slow = assert.rejects(submitSignature(ctx, { workspaceId, grantId: next.id, assertion, actor }), UNDER_WAY)
    await hold.held
    await changeUnsigned(then, owned, { grantId: next.id, change: 'revoke' })
    await hold.release()
    await slow
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['revoked', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
  })

  test('a signature is not sent if the owner was asked to sign another request in this time', async () => {
    const { owned, old, next } = await openPair(ctx)
    const { workspaceId, actor } = owned
    const asked = { workspaceId, grantId: next.id, change: 'activate', actor } as const
    const { request } = await issueSigningRequest(ctx, asked)
    assert.ok(request !== null)
    const hold = enclave.proxy.hold('answer', POLICY_PATH)
    const assertion = owned.owner.assert(request.payload)
    const stale = { status: 409, code: 'signing_request_stale' }
    const slow = assert.rejects(submitSignature(ctx, { workspaceId, grantId: next.id, assertion, actor }), stale)
    await hold.held
    // By now, more than half of the first request's time has passed.
    await issueSigningRequest(later(ctx, SIGNING_REQUEST_MS / 2 + 1_000), asked)
    await hold.release()
    await slow
    assert.deepEqual(await listEnforced(ctx, owned), [old.id])
  })

  test('a grant that was signed in this time is not recorded as dropped', async () => {
    const { owned, old, next } = await openPair(ctx)
    const first = enclave.proxy.hold('answer', POLICY_PATH)
    const second = enclave.proxy.hold('answer', POLICY_PATH)
    const slow = assert.rejects(changeUnsigned(ctx, owned, { grantId: next.id, change: 'revoke' }), UNDER_WAY)
    await first.held
    await first.release()
    // The service makes the second read while it holds the lease.
    await second.held
    await signChange(then, owned, { grantId: next.id, change: 'activate' })
    await second.release()
    await slow
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', next.id],
      ['active', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
  })

  test('of two submissions of one signature at once, the first to end does not let another change start', async () => {
    const { owned, old, next } = await openPair(ctx)
    const { workspaceId, actor } = owned
    const { request } = await issueSigningRequest(ctx, { workspaceId, grantId: next.id, change: 'activate', actor })
    assert.ok(request !== null)
    const signed = { workspaceId, grantId: next.id, assertion: owned.owner.assert(request.payload), actor }
    const holds = [1, 2].map(() => enclave.proxy.hold('request', POLICY_PATH, 'PATCH'))
    const first = assert.rejects(submitSignature(ctx, signed), UNDER_WAY)
    await holds[0]?.held
    const second = submitSignature(given.openAnother(), signed)
    await holds[1]?.held
    await holds[0]?.release()
    await first
    await assert.rejects(signChange(ctx, owned, { grantId: next.id, change: 'revoke' }), UNDER_WAY)
    await holds[1]?.release()
    assert.equal((await second).status, 'active')
    assert.deepEqual(await readFates(ctx, owned, [old]), [['revoked', next.id]])
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
  })

  test('a replacement that took effect in this time is not dropped in favour of another one', async () => {
    const { owned, old, next } = await openPair(ctx)
    const hold = enclave.proxy.hold('answer', POLICY_PATH)
    const slow = assert.rejects(openNext(ctx, owned, old), UNDER_WAY)
    await hold.held
    await signAndCrash(then, owned, { grantId: next.id, change: 'activate' })
    await hold.release()
    await slow
    await changeUnsigned(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', next.id],
      ['active', null],
    ])
  })
})
