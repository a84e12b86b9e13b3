import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  makePasskey,
  signInPerson,
  signUpMember,
  signUpPerson,
  toBytes,
  type Person,
} from '../../../../test/support/context/people.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { addPasskey } from './add-passkey.ts'
import { CEREMONY_MS } from './ceremony.ts'
import { listPasskeys } from './queries.ts'
import { openPasskeyRegistration } from './open-passkey-registration.ts'
import { openSignUp } from '../sessions/open-sign-up.ts'
import { PASSKEYS_MAX } from './passkey.ts'
import { removePasskey } from './remove-passkey.ts'
import { RECENT_PROOF_MS } from '../require-recent-proof.ts'

describe("a person's passkeys", () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('an added passkey signs in the same user', async () => {
    const ada = await signUpMember(ctx)
    const added = await add(ada, ' Laptop ')
    assert.equal((await signInPerson(ctx, { passkey: added })).session.userId, ada.userId)
    const names = (await listPasskeys(ctx, ada)).map(({ name }) => name)
    assert.deepEqual(names, ['First passkey', 'Laptop'])
    const rows = await readAudit(ctx.db, ada.userId)
    assert.deepEqual(rows[1], {
      actor_kind: 'user',
      actor_id: ada.userId,
      action: 'passkey.added',
      subject: added.credentialId,
      details: { name: 'Laptop' },
    })
    assert.equal(rows.length, 3)
  })

  test('another passkey is registered for the same user, and not on an authenticator that has one already', async () => {
    const ada = await signUpPerson(ctx, 'Ada Lovelace')
    const { options } = await openPasskeyRegistration(ctx, ada)
    assert.equal(options.user.name, 'Ada Lovelace')
    assert.equal(options.user.id, ada.passkey.export().userHandle)
    assert.deepEqual(
      options.excludeCredentials?.map(({ id }) => id),
      [ada.passkey.credentialId],
    )
  })

  test('starting a registration, adding and removing a passkey need a proof of the last 10 minutes', async () => {
    const ada = await signUpPerson(ctx)
    const second = await add(ada)
    const then = later(ctx, RECENT_PROOF_MS)
    const required = { status: 403, code: 'verification_required' }
    await assert.rejects(openPasskeyRegistration(then, ada), required)
    const { ceremony, options } = await openPasskeyRegistration(ctx, ada)
    const response = makePasskey(ctx, options.user.id).register(toBytes(options.challenge))
    await assert.rejects(addPasskey(then, { session: ada.session, ceremony, response, name: 'Other' }), required)
    const removal = { session: ada.session, credentialId: second.credentialId }
    await assert.rejects(removePasskey(then, removal), required)
    assert.equal((await listPasskeys(ctx, ada)).length, 2)
  })

  test('a challenge is valid for one user, one purpose and 5 minutes', async () => {
    const [ada, eve] = [await signUpPerson(ctx), await signUpPerson(ctx)]
    const answerWith = async (
      person: Person,
      at: Context,
      opened: Awaited<ReturnType<typeof openPasskeyRegistration>>,
    ) => {
      const { ceremony, options } = opened
      const response = makePasskey(ctx, options.user.id).register(toBytes(options.challenge))
      await addPasskey(at, { session: person.session, ceremony, response, name: 'Other' })
    }
    const expired = { status: 400, code: 'ceremony_expired' }
    await assert.rejects(answerWith(eve, ctx, await openPasskeyRegistration(ctx, ada)), expired)
    await assert.rejects(answerWith(ada, ctx, await openSignUp(ctx, { name: 'Ada', policy: 'open' })), expired)
    await assert.rejects(answerWith(ada, later(ctx, CEREMONY_MS), await openPasskeyRegistration(ctx, ada)), expired)
    const opened = await openPasskeyRegistration(ctx, ada)
    await answerWith(ada, ctx, opened)
    await assert.rejects(answerWith(ada, ctx, opened), expired)
    assert.equal((await listPasskeys(ctx, ada)).length, 2)
  })

  test("another user's passkey cannot be added, nor one without a name", async () => {
    const [ada, eve] = [await signUpPerson(ctx), await signUpPerson(ctx)]
    const { ceremony, options } = await openPasskeyRegistration(ctx, eve)
    const response = ada.passkey.register(toBytes(options.challenge))
    await assert.rejects(addPasskey(ctx, { session: eve.session, ceremony, response, name: ' ' }), { status: 400 })
    await assert.rejects(addPasskey(ctx, { session: eve.session, ceremony, response, name: 'Stolen' }), {
      status: 409,
      code: 'passkey_exists',
    })
    const [passkey] = await listPasskeys(ctx, ada)
    assert.equal(passkey?.userId, ada.userId)
  })

  test(`a user has at most ${PASSKEYS_MAX} passkeys, even if the last ones are added at once`, async () => {
    const ada = await signUpPerson(ctx)
    while ((await listPasskeys(ctx, ada)).length < PASSKEYS_MAX - 2) await add(ada)
    await openConnections(ctx.db)
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => add(ada)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
    await assert.rejects(openPasskeyRegistration(ctx, ada), { status: 409, code: 'passkey_limit_reached' })
    assert.equal((await listPasskeys(ctx, ada)).length, PASSKEYS_MAX)
  })

  test('a removed passkey cannot sign in; the last one cannot be removed', async () => {
    const ada = await signUpMember(ctx)
    const second = await add(ada)
    await remove(ada, second.credentialId)
    await assert.rejects(signInPerson(ctx, { passkey: second }), { status: 401, code: 'passkey_unknown' })
    await assert.rejects(remove(ada, second.credentialId), { status: 404 })
    await assert.rejects(remove(ada, ada.passkey.credentialId), { status: 409, code: 'last_passkey' })
    await signInPerson(ctx, ada)
    const actions = (await readAudit(ctx.db, ada.userId)).map((row) => String(row['action']))
    assert.deepEqual(actions, ['user.signed_up', 'passkey.added', 'passkey.removed', 'user.signed_in'])
  })

  test("nobody can remove another user's passkey", async () => {
    const [ada, eve] = [await signUpPerson(ctx), await signUpPerson(ctx)]
    await Promise.all([add(ada), add(eve)])
    await assert.rejects(remove(eve, ada.passkey.credentialId), { status: 404 })
    assert.equal((await listPasskeys(ctx, ada)).length, 2)
  })

  test('if the last two passkeys are removed at once, one always stays', async () => {
    await openConnections(ctx.db)
    for (let round = 0; round < 10; round += 1) {
      const ada = await signUpMember(ctx)
      const second = await add(ada)
      const outcomes = await Promise.allSettled(
        [ada.passkey, second].map(({ credentialId }) => remove(ada, credentialId)),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await listPasskeys(ctx, ada)).length, 1)
      const rows = await readRows(
        ctx.db,
        "select 1 from audit_entries where log_id = $1 and action = 'passkey.removed'",
        [ada.userId],
      )
      assert.equal(rows.length, 1)
    }
  })

  async function add({ session }: Person, name = 'Another') {
    const { ceremony, options } = await openPasskeyRegistration(ctx, { session })
    const passkey = makePasskey(ctx, options.user.id)
    await addPasskey(ctx, { session, ceremony, response: passkey.register(toBytes(options.challenge)), name })
    return passkey
  }

  function remove({ session }: Person, credentialId: string): Promise<void> {
    return removePasskey(ctx, { session, credentialId })
  }
})
