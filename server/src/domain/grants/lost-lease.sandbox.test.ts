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

const WALLET_PATH = /^\/v1\/wallets\/[^/]+$/
const LEASE_MS = 60_000
const UNDER_WAY = { status: 409, code: 'signer_change_under_way' } as const

/** When the lease on a wallet's signers has expired, somebody else can take it (decision 0022). */
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

  test('a grant that was dropped meanwhile is not activated', async () => {
    const { owned, old, next } = await openPair(ctx)
    const { accountId, actor } = owned
    const request = await issueSigningRequest(ctx, { accountId, grantId: next.id, change: 'activate', actor })
    assert.ok(request.challenge !== null)
    const hold = enclave.proxy.hold('answer', WALLET_PATH)
    const assertion = owned.owner.assert(request.challenge)
    const slow = assert.rejects(submitSignature(ctx, { accountId, grantId: next.id, assertion, actor }), UNDER_WAY)
    await hold.held
    await changeUnsigned(then, owned, { grantId: next.id, change: 'revoke' })
    await hold.release()
    await slow
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['revoked', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [old.enclavePolicyId])
  })

  test('a grant that was signed meanwhile is not recorded as dropped', async () => {
    const { owned, old, next } = await openPair(ctx)
    const first = enclave.proxy.hold('answer', WALLET_PATH)
    const second = enclave.proxy.hold('answer', WALLET_PATH)
    const slow = assert.rejects(changeUnsigned(ctx, owned, { grantId: next.id, change: 'revoke' }), UNDER_WAY)
    await first.held
    await first.release()
    // The second read is made under the lease.
    await second.held
    await signChange(then, owned, { grantId: next.id, change: 'activate' })
    await second.release()
    await slow
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', next.id],
      ['active', null],
    ])
    assert.deepEqual(await listEnforced(ctx, owned), [next.enclavePolicyId])
  })

  test('a replacement that took effect meanwhile is not dropped for another one', async () => {
    const { owned, old, next } = await openPair(ctx)
    const hold = enclave.proxy.hold('answer', /^\/v1\/policies$/)
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
