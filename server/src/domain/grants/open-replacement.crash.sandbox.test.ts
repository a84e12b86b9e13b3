import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openSandboxEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  changeUnsigned,
  listEnforced,
  listGrantEvents,
  makeTerms,
  openNext,
  openPair,
  readFates,
  signAndCrash,
  signChange,
  type GrantPair,
} from '../../../../test/support/context/grant-fixture.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'

describe('the enclave has the new policy, and the service died before recording it', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('when the signature is requested again, the new grant is recorded as active, and there is nothing to sign', async () => {
    const { owned, old, next } = await openCrashed()
    const recorded = await changeUnsigned(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.equal(recorded.status, 'active')
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', next.id],
      ['active', null],
    ])
    assert.deepEqual((await listGrantEvents(ctx, owned)).slice(1), [
      ['permission.revoked', old.id],
      ['permission.granted', next.id],
    ])
  })

  test('revoking the old grant leaves the new one in force at the enclave, and the new one can still be recorded', async () => {
    const { owned, old, next } = await openCrashed()
    await changeUnsigned(ctx, owned, { grantId: old.id, change: 'revoke' })
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', null],
      ['pending', null],
    ])
    await changeUnsigned(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual(await readFates(ctx, owned, [next]), [['active', null]])
  })

  test('dropping the new grant needs a signature, and then neither grant is in force', async () => {
    const { owned, old, next } = await openCrashed()
    const dropped = await signChange(ctx, owned, { grantId: next.id, change: 'revoke' })
    assert.equal(dropped.status, 'revoked')
    assert.deepEqual(await listEnforced(ctx, owned), [])
    assert.deepEqual(await readFates(ctx, owned, [old]), [['revoked', null]])
  })

  test('if the service dies again while it drops the new grant, the next request records both revocations', async () => {
    const { owned, old, next } = await openCrashed()
    await signAndCrash(ctx, owned, { grantId: next.id, change: 'revoke' })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['pending', null],
    ])
    await changeUnsigned(ctx, owned, { grantId: next.id, change: 'revoke' })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', null],
      ['revoked', null],
    ])
  })

  test('an attempt to replace the old grant once more is rejected, but records the new grant as active', async () => {
    const { owned, old, next } = await openCrashed()
    await assert.rejects(openNext(ctx, owned, old, makeTerms(3)), {
      status: 409,
      code: 'grant_not_active',
    })
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['revoked', next.id],
      ['active', null],
    ])
    const last = await openNext(ctx, owned, next, makeTerms(3))
    await signChange(ctx, owned, { grantId: last.id, change: 'activate' })
    assert.deepEqual(await listEnforced(ctx, owned), [last.id])
  })

  async function openCrashed(): Promise<GrantPair> {
    const pair = await openPair(ctx)
    await signAndCrash(ctx, pair.owned, { grantId: pair.next.id, change: 'activate' })
    assert.deepEqual(await listEnforced(ctx, pair.owned), [pair.next.id])
    assert.deepEqual(await readFates(ctx, pair.owned, [pair.old, pair.next]), [
      ['active', null],
      ['pending', null],
    ])
    return pair
  }
})
