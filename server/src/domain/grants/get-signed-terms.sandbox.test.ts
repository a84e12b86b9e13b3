import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  changeUnsigned,
  getSlot,
  makeTerms,
  openActive,
  openNext,
  openOwned,
  openPending,
  readFates,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { microUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'
import { getSignedTerms } from './get-signed-terms.ts'
import type { Grant } from './grant.ts'

const CAP = microUsdc(100_000_000n)
const AS_SIGNED = { state: 'same', dailyCapMicro: CAP } as const

describe('getSignedTerms: what the enclave has of the terms in the database', () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  const reported: unknown[] = []
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    const error = (members: { grant?: unknown }): void => void reported.push(members.grant)
    ctx = { ...given.context, logger: Object.assign(Object.create(given.context.logger), { error }) }
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  function signedTermsOf({ workspaceId }: Owned, { id: grantId }: Grant) {
    return getSignedTerms(ctx, { workspaceId, grantId })
  }

  /** Activates a grant whose rules have only its id as their name, as an earlier version of the service did. */
  async function activateAsBefore(owned: Owned): Promise<Grant> {
    const grant = await openPending(ctx, owned)
    const { chainId, usdc } = ctx.chains.test
    const rules = ctx.enclave.toRules({ ...grant, ruleName: grant.id, chainId, usdc })
    const slot = await getSlot(ctx, owned, grant)
    const toSign = ctx.enclave.prepareRules({ slot, rules, expiresAt: new Date(Date.now() + 60_000) })
    await toSign.submit(owned.owner.assert(toSign.payload).response)
    return await changeUnsigned(ctx, owned, { grantId: grant.id, change: 'activate' })
  }

  for (const tamper of ['daily_cap_micro = 200000000', 'max_per_tx_micro = 2000000', 'x402 = true']) {
    test(`a grant is reported if somebody sets ${tamper} in the database`, async () => {
      const owned = await openOwned(ctx)
      const grant = await openActive(ctx, owned)
      assert.deepEqual(await signedTermsOf(owned, grant), AS_SIGNED)
      await readRows(ctx.db, `update grants set ${tamper} where id = $1`, [grant.id])
      assert.deepEqual(await signedTermsOf(owned, grant), { state: 'different', dailyCapMicro: CAP })
      assert.equal(reported.at(-1), grant.id)
    })
  }

  test('a revoked grant that somebody makes active in the database is not enforced', async () => {
    const owned = await openOwned(ctx)
    const grant = await openActive(ctx, owned)
    await signChange(ctx, owned, { grantId: grant.id, change: 'revoke' })
    await assert.rejects(signedTermsOf(owned, grant), { code: 'grant_revoked' })
    await readRows(ctx.db, `update grants set status = 'active', revoked_at = null where id = $1`, [grant.id])
    assert.deepEqual(await signedTermsOf(owned, grant), { state: 'not_enforced', dailyCapMicro: null })
  })

  test('a grant that was signed without its 24-hour limit stays active, and its replacement signs the limit', async () => {
    const owned = await openOwned(ctx)
    const old = await activateAsBefore(owned)
    assert.deepEqual(await signedTermsOf(owned, old), { state: 'same', dailyCapMicro: null })

    const dropped = await openNext(ctx, owned, old)
    await changeUnsigned(ctx, owned, { grantId: dropped.id, change: 'revoke' })
    const next = await openNext(ctx, owned, old, makeTerms())
    await assert.rejects(signedTermsOf(owned, next), { code: 'grant_not_active' })
    assert.deepEqual((await readFates(ctx, owned, [old]))[0], ['active', null])
    const signed = await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual((await readFates(ctx, owned, [old]))[0], ['revoked', next.id])
    assert.deepEqual(await signedTermsOf(owned, signed), AS_SIGNED)
  })

  test('a grant that was signed without its 24-hour limit can be revoked', async () => {
    const owned = await openOwned(ctx)
    const old = await activateAsBefore(owned)
    assert.equal((await signChange(ctx, owned, { grantId: old.id, change: 'revoke' })).status, 'revoked')
  })
})
