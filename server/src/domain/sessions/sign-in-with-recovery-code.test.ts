import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listAuditActions } from '../../../../test/support/context/audit.ts'
import {
  DEVICE,
  makePasskey,
  signInPerson,
  signUpMember,
  signUpPerson,
  toBytes,
} from '../../../../test/support/context/people.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { addPasskey } from '../passkeys/add-passkey.ts'
import { countRecoveryCodes } from '../passkeys/queries.ts'
import { issueRecoveryCodes } from '../passkeys/issue-recovery-codes.ts'
import { openPasskeyRegistration } from '../passkeys/open-passkey-registration.ts'
import { signInWithRecoveryCode } from './sign-in-with-recovery-code.ts'
import { createRecoveryCode } from '../passkeys/recovery-code.ts'

const INVALID = { status: 401, code: 'recovery_code_invalid' }

describe('recovery codes', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a code signs its user in once, however it is typed, and lets them add a passkey', async () => {
    const ada = await signUpMember(ctx)
    const [first = '', second = ''] = ada.recoveryCodes
    assert.equal(await countRecoveryCodes(ctx, ada), 10)
    const { session } = await enter(` ${first.toLowerCase().replaceAll('-', ' ')}`)
    assert.equal(session.userId, ada.userId)
    await assert.rejects(enter(first), INVALID)
    assert.equal(await countRecoveryCodes(ctx, ada), 9)

    const { ceremony, options } = await openPasskeyRegistration(ctx, { session })
    const passkey = makePasskey(ctx, options.user.id)
    await addPasskey(ctx, { session, ceremony, response: passkey.register(toBytes(options.challenge)), name: 'New' })
    assert.equal((await signInPerson(ctx, { passkey })).session.userId, ada.userId)
    assert.equal((await enter(second)).session.userId, ada.userId)
    assert.deepEqual(await listAuditActions(ctx.db, ada.userId), [
      'user.signed_up',
      'user.recovered',
      'passkey.added',
      'user.signed_in',
      'user.recovered',
    ])
  })

  test('a code that is used 20 times at once, over two processes, creates one session', async () => {
    const ada = await signUpMember(ctx)
    const code = ada.recoveryCodes[0] ?? ''
    const other = given.openAnother()
    await openConnections(ctx.db, other.db)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        signInWithRecoveryCode(index % 2 === 0 ? ctx : other, { code, device: DEVICE }),
      ),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.equal((outcome.reason as { code: string }).code, INVALID.code)
    }
    const sessions = await readRows(ctx.db, 'select 1 from sessions where user_id = $1', [ada.userId])
    assert.equal(sessions.length, 2)
    assert.deepEqual(await listAuditActions(ctx.db, ada.userId), ['user.signed_up', 'user.recovered'])
  })

  test('malformed and unknown codes are rejected in the same way', async () => {
    for (const code of ['', 'x', createRecoveryCode(), '-'.repeat(10_000)]) await assert.rejects(enter(code), INVALID)
  })

  test('new codes replace all old ones, used or not', async () => {
    const ada = await signUpPerson(ctx)
    const [used = '', unused = ''] = ada.recoveryCodes
    await enter(used)
    const codes = await issueRecoveryCodes(ctx, ada)
    assert.equal(new Set([...codes, ...ada.recoveryCodes]).size, 20)
    for (const code of [used, unused]) await assert.rejects(enter(code), INVALID)
    assert.equal(await countRecoveryCodes(ctx, ada), 10)
    await enter(codes[9] ?? '')
  })

  test('if two sets of codes are issued at once, one set of ten is valid', async () => {
    const ada = await signUpPerson(ctx)
    await openConnections(ctx.db)
    const sets = await Promise.all(Array.from({ length: 5 }, () => issueRecoveryCodes(ctx, ada)))
    assert.equal(await countRecoveryCodes(ctx, ada), 10)
    const outcomes = await Promise.allSettled(sets.map((codes) => enter(codes[0] ?? '')))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test('only the hash of a code is stored', async () => {
    const ada = await signUpMember(ctx)
    await enter(ada.recoveryCodes[0] ?? '')
    const rows = await readRows(
      ctx.db,
      'select recovery_codes::text as row from recovery_codes union all select audit_entries::text from audit_entries',
    )
    for (const row of rows) {
      for (const code of ada.recoveryCodes) {
        for (const text of [code, Buffer.from(code).toString('hex')]) assert.ok(!String(row['row']).includes(text))
      }
    }
  })

  function enter(code: string) {
    return signInWithRecoveryCode(ctx, { code, device: DEVICE })
  }
})
