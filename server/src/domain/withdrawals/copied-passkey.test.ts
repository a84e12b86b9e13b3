import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { restoreSoftwarePasskey, type SoftwarePasskey } from '../../../../sandbox/src/software-passkey.ts'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import {
  issueWithdrawal,
  openWithdrawer,
  signWithdrawal,
  type Withdrawer,
} from '../../../../test/support/context/withdrawal-fixture.ts'
import type { Context } from '../context.ts'
import { submitWithdrawal } from './submit-withdrawal.ts'

const WENT_BACK = { status: 409, code: 'wallet_passkey_counter_went_back' }
const ACTION = 'wallet_passkey.counter_went_back'

/** `checkOwnerSignature` counts the signatures of every request to an owner. Withdrawals stand for all of them. */
describe('the signature counter of a wallet passkey', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  for (const [what, behind] of [
    ['goes back', 1],
    ['stays the same', 0],
  ] as const) {
    test(`if it ${what}, the signature is rejected, nothing is sent, and the audit logs say it`, async () => {
      const withdrawer = await openWithdrawer(ctx)
      const { owner, seeded, actor } = withdrawer
      await withdraw(withdrawer)
      await withdraw(withdrawer, owner, 1_000)
      const copy = restoreSoftwarePasskey({ ...owner.export(), counter: owner.counter - 1 - behind })
      const known = await countPayments(withdrawer)
      await assert.rejects(withdraw(withdrawer, copy, 2_000), WENT_BACK)
      assert.equal(await countPayments(withdrawer), known)
      const [entry] = (await readAudit(ctx.db, actor.id)).filter(({ action }) => action === ACTION)
      assert.deepEqual([entry?.['subject'], entry?.['details']], [owner.credentialId, { counter: 2 - behind }])
      assert.ok((await listAuditActions(ctx.db, seeded.workspace.id)).includes(ACTION))
      await withdraw(withdrawer, owner, 3_000)
    })
  }

  test('a passkey that does not count its signatures is always accepted', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const stored = { ...withdrawer.owner.export(), counter: -1 }
    for (const ms of [0, 1_000, 2_000]) await withdraw(withdrawer, restoreSoftwarePasskey(stored), ms)
  })

  test('a signature that is sent twice, or after a later one, is no sign of a copied passkey', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const { seeded, owner, actor } = withdrawer
    const [first, second] = [await issueWithdrawal(ctx, withdrawer), await issueWithdrawal(ctx, withdrawer)]
    const signed = [first, second].map(({ requestId, signingRequest }) => {
      const assertion = owner.assert(signingRequest.payload)
      return { workspaceId: seeded.workspace.id, requestId, assertion, actor }
    })
    for (const submission of [...signed.toReversed(), ...signed]) await submitWithdrawal(ctx, submission)
    assert.equal(await countPayments(withdrawer), 2)
    assert.ok(!(await listAuditActions(ctx.db, actor.id)).includes(ACTION))
  })

  /** Prepares a withdrawal `ms` later, and signs it with the owner's passkey, or with another one. */
  async function withdraw(withdrawer: Withdrawer, passkey?: SoftwarePasskey, ms = 0): Promise<void> {
    const at = later(ctx, ms)
    await signWithdrawal(at, withdrawer, await issueWithdrawal(at, withdrawer), passkey)
  }

  async function countPayments({ seeded }: Withdrawer): Promise<number> {
    return (await readRows(ctx.db, 'select 1 from payments where workspace_id = $1', [seeded.workspace.id])).length
  }
})
