import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { readSignatures, verifyOffline } from '../../../../test/support/context/kept-signatures.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { openWithdrawer, withdraw, type Withdrawer } from '../../../../test/support/context/withdrawal-fixture.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { createSealer, type SealingKey } from '../../lib/sealing.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { resealSecrets } from '../encryption-keys/reseal-secrets.ts'
import { retireLostSecrets } from '../encryption-keys/retire-lost-secrets.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { openSignatures } from './open-signatures.ts'

const FENCE_MS = SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS

describe("an owner's signature that is still encrypted", () => {
  const [old, newest]: readonly [SealingKey, SealingKey] = [
    { id: '1', key: randomBytes(32) },
    { id: '2', key: randomBytes(32) },
  ]
  let given: TestContext
  let ctx: Context
  let withdrawer: Withdrawer
  beforeEach(async () => {
    given = await openTestContext((config) => ({ ...config, encryptionKeys: [old] }))
    ctx = given.context
    withdrawer = await openWithdrawer(ctx)
    await withdraw(ctx, withdrawer)
  })
  afterEach(() => given.close())

  test('needs the key that encrypted it until it is opened', async () => {
    const both = { ...ctx, sealer: createSealer([newest, old]) }
    const countLeft = async () => (await resealSecrets(both, async () => true))?.left
    assert.equal(await countLeft(), 1)
    assert.equal(await openSignatures(later(both, FENCE_MS)), 1)
    assert.equal(await countLeft(), 0)
    verifyOffline(await read())
  })

  test('is lost with the key, and says so', async () => {
    const without = { ...ctx, sealer: createSealer([newest]) }
    const sealed = await read()
    const retire = (isConfirmed: boolean) =>
      retireLostSecrets(without, { keys: [newest], actor: OPERATOR, isConfirmed })
    assert.equal(await openSignatures(later(without, FENCE_MS)), 0)
    assert.equal((await retire(false)).signatures, 1)
    assert.deepEqual(await read(), sealed, 'nothing was changed yet')
    await retire(true)
    assert.deepEqual(await read(), { ...sealed, assertion_sealed: Buffer.alloc(0) })
    assert.equal((await retire(false)).signatures, 0)
    assert.equal(await openSignatures(later(ctx, FENCE_MS)), 0)
  })

  test('cannot be opened from another row', async () => {
    await readRows(ctx.db, `update owner_signatures set subject = 'other', credential_id = 'other'`)
    assert.equal(await openSignatures(later(ctx, FENCE_MS)), 0)
  })

  test('is opened although no key decrypts hundreds that are older', async () => {
    await readRows(
      ctx.db,
      `insert into owner_signatures select (jsonb_populate_record(s, jsonb_build_object('subject', 'other', 'credential_id',
          'other ' || n, 'usable_until', s.usable_until - interval '1 hour'))).*
        from owner_signatures s, generate_series(1, 401) n`,
    )
    assert.equal(await openSignatures(later(ctx, FENCE_MS)), 1)
    const opened = await readRows(ctx.db, 'select credential_id from owner_signatures where assertion is not null')
    assert.deepEqual(opened, [{ credential_id: withdrawer.owner.credentialId }])
    assert.equal(await openSignatures(later(ctx, FENCE_MS)), 0)
  })

  async function read() {
    const [row, ...others] = await readSignatures(ctx.db, withdrawer.seeded.workspace.id)
    assert.ok(row !== undefined && others.length === 0)
    return row
  }
})
