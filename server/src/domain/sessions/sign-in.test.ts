import assert from 'node:assert/strict'
import { createPrivateKey, hash, randomBytes, sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import {
  createSoftwarePasskey,
  restoreSoftwarePasskey,
  type PasskeyAssertion,
} from '../../../../sandbox/src/software-passkey.ts'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  answer,
  DEVICE,
  makePasskey,
  signInPerson,
  signUpMember,
  signUpPerson,
  toBytes,
  type Person,
} from '../../../../test/support/context/people.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { CEREMONY_MS } from '../passkeys/ceremony.ts'
import { createWorkspace } from '../members/create-workspace.ts'
import { endSession } from './end-session.ts'
import { findSession } from './find-session.ts'
import { listPasskeys } from '../passkeys/queries.ts'
import { openSignIn } from './open-sign-in.ts'
import { openSignUp } from './open-sign-up.ts'
import { openVerification } from './open-verification.ts'
import { signIn } from './sign-in.ts'
import { signUp } from './sign-up.ts'
import { verifySession } from './verify-session.ts'

/** The position of the byte with the flags in authenticator data (WebAuthn, section 6.1). */
const FLAGS_OFFSET = 32
const WENT_BACK = { status: 401, code: 'passkey_counter_went_back' }
const INVALID = { status: 401, code: 'passkey_invalid' }
const UNKNOWN = { status: 401, code: 'passkey_unknown' }
const EXPIRED = { status: 400, code: 'ceremony_expired' }

describe('signing up and in', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('after the sign-up a user signs in with the passkey alone, each time with a new session', async () => {
    const ada = await signUpPerson(ctx, ' Ada Lovelace ')
    const again = await signInPerson(ctx, ada)
    assert.equal(again.session.userId, ada.userId)
    assert.notEqual(again.secret, ada.secret)
    for (const secret of [ada.secret, again.secret]) {
      const session = await findSession(ctx, { secret })
      assert.equal(session?.userId, ada.userId)
      assert.equal(session.userName, 'Ada Lovelace')
      assert.equal(session.device, DEVICE)
    }
    const [passkey] = await listPasskeys(ctx, { userId: ada.userId })
    assert.equal(passkey?.credentialId, ada.passkey.credentialId)
    assert.deepEqual(new Uint8Array(passkey.publicKeyCose), ada.passkey.publicKeyCose)
    assert.deepEqual([passkey.counter, passkey.transports], [1, ['internal']])
    assert.deepEqual(passkey.lastUsedAt, again.session.createdAt)
  })

  test('a sign-up asks for a discoverable passkey with user verification; a sign-in names no user', async () => {
    const up = (await openSignUp(ctx, { name: 'Ada', policy: 'open' })).options
    assert.deepEqual(up.rp, { name: 'Bursar', id: ctx.relyingParty.id })
    assert.equal(toBytes(up.user.id).length, 32)
    assert.equal(toBytes(up.challenge).length, 32)
    assert.deepEqual(
      up.pubKeyCredParams.map(({ alg }) => alg),
      [-7, -8, -257],
    )
    assert.equal(up.authenticatorSelection?.residentKey, 'required')
    assert.equal(up.authenticatorSelection.userVerification, 'required')
    assert.equal(up.attestation, 'none')
    const { options } = await openSignIn(ctx)
    assert.equal(options.allowCredentials, undefined)
    assert.equal(options.userVerification, 'required')
    assert.notEqual(options.challenge, (await openSignIn(ctx)).options.challenge)
  })

  test('a name that is not allowed is rejected', async () => {
    for (const name of ['', '  ', 'x'.repeat(101), 'a\u0000']) {
      await assert.rejects(openSignUp(ctx, { name, policy: 'open' }), { status: 400, type: 'validation_failed' })
    }
  })

  test('if sign-up is by invitation, the operation itself rejects a sign-up without one', async () => {
    const wanted = { name: 'Eve', policy: 'invited' } as const
    await assert.rejects(openSignUp(ctx, wanted), { status: 403, code: 'sign_up_invited_only' })
    const invitation = createSecret(SECRET_PREFIXES.invitation)
    await assert.rejects(openSignUp(ctx, { ...wanted, invitation }), { status: 404, code: 'invitation_not_found' })
  })

  describe('a sign-in is rejected', () => {
    let ada: Person
    before(async () => {
      ada = await signUpPerson(ctx)
    })

    const faults: readonly (readonly [
      string,
      object,
      (passkey: Person['passkey'], challenge: string) => PasskeyAssertion,
    ])[] = [
      ['over another challenge', INVALID, (passkey) => passkey.assert(randomBytes(32))],
      [
        'from another origin',
        INVALID,
        (passkey, challenge) =>
          answer(restoreSoftwarePasskey({ ...passkey.export(), origin: 'http://localhost:4999' }), { challenge }),
      ],
      [
        'for another relying party',
        INVALID,
        (passkey, challenge) =>
          answer(restoreSoftwarePasskey({ ...passkey.export(), rpId: 'evil.example' }), { challenge }),
      ],
      [
        "with another person's user handle",
        INVALID,
        (passkey, challenge) => {
          const userHandle = randomBytes(32).toString('base64url')
          return answer(restoreSoftwarePasskey({ ...passkey.export(), userHandle }), { challenge })
        },
      ],
      [
        'without a user handle',
        INVALID,
        (passkey, challenge) => {
          const { response, ...rest } = answer(passkey, { challenge })
          const { userHandle: _, ...others } = response
          return { ...rest, response: others } as PasskeyAssertion
        },
      ],
      ['without its person there', INVALID, (passkey, challenge) => forge(passkey, { challenge, flags: 0x04 })],
      ['without its person verified', INVALID, (passkey, challenge) => forge(passkey, { challenge, flags: 0x01 })],
      ['in a frame', INVALID, (passkey, challenge) => forge(passkey, { challenge, crossOrigin: true })],
      ['of another type', INVALID, (passkey, challenge) => forge(passkey, { challenge, type: 'webauthn.create' })],
      [
        'with another signature',
        INVALID,
        (passkey, challenge) => {
          const assertion = answer(passkey, { challenge })
          const { signature } = answer(passkey, { challenge: randomBytes(32).toString('base64url') }).response
          return { ...assertion, response: { ...assertion.response, signature } }
        },
      ],
      [
        'with a registration',
        INVALID,
        (passkey, challenge) => passkey.register(toBytes(challenge)) as unknown as PasskeyAssertion,
      ],
      ['with nothing', INVALID, ({ credentialId }) => ({ id: credentialId }) as PasskeyAssertion],
      [
        'with a passkey that nobody has',
        UNKNOWN,
        (passkey, challenge) => answer(createSoftwarePasskey(passkey.export()), { challenge }),
      ],
      [
        'with an id that no passkey can have',
        UNKNOWN,
        (passkey, challenge) => ({ ...answer(passkey, { challenge }), id: 'a\u0000b' }),
      ],
    ]
    for (const [how, refusal, respond] of faults) {
      test(`${how}, and the challenge is used up`, async () => {
        const { ceremony, options } = await openSignIn(ctx)
        const response = respond(ada.passkey, options.challenge)
        await assert.rejects(signIn(ctx, { ceremony, response, device: DEVICE }), refusal)
        await assert.rejects(signIn(ctx, { ceremony, response: answer(ada.passkey, options), device: DEVICE }), EXPIRED)
      })
    }

    test('only because of the one thing that each forgery changes', async () => {
      const { ceremony, options } = await openSignIn(ctx)
      await signIn(ctx, { ceremony, response: forge(ada.passkey, options), device: DEVICE })
    })

    test('when its challenge is unknown, made up, or of another kind', async () => {
      const secrets = ['', 'x', createSecret(SECRET_PREFIXES.ceremony), createSecret(SECRET_PREFIXES.session)]
      const { ceremony: ofSignUp } = await openSignUp(ctx, { name: 'Eve', policy: 'open' })
      const { ceremony: ofVerification, options } = await openVerification(ctx, ada)
      for (const ceremony of [...secrets, ofSignUp, ofVerification]) {
        await assert.rejects(signIn(ctx, { ceremony, response: answer(ada.passkey, options), device: DEVICE }), EXPIRED)
      }
    })

    test('after exactly 5 minutes', async () => {
      const open = () => openSignIn(ctx)
      const [inTime, late] = [await open(), await open()]
      const respond = (milliseconds: number, { ceremony, options }: Awaited<ReturnType<typeof open>>) =>
        signIn(later(ctx, milliseconds), { ceremony, response: answer(ada.passkey, options), device: DEVICE })
      await respond(CEREMONY_MS - 5_000, inTime)
      await assert.rejects(respond(CEREMONY_MS, late), EXPIRED)
    })
  })

  test('a challenge can be used once: 20 concurrent responses are one sign-in', async () => {
    const ada = await signUpPerson(ctx)
    await openConnections(ctx.db)
    const { ceremony, options } = await openSignIn(ctx)
    const responses = Array.from({ length: 20 }, () => answer(ada.passkey, options))
    const outcomes = await Promise.allSettled(
      responses.map((response) => signIn(ctx, { ceremony, response, device: DEVICE })),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') assert.equal((outcome.reason as { code: string }).code, 'ceremony_expired')
    }
    const rows = await readRows(ctx.db, 'select 1 from sessions where user_id = $1', [ada.userId])
    assert.equal(rows.length, 2)
  })

  test('a signature counter that goes back is rejected, because a copied passkey would cause it', async () => {
    const ada = await signUpPerson(ctx)
    const copy = restoreSoftwarePasskey(ada.passkey.export())
    await signInPerson(ctx, ada)
    await signInPerson(ctx, ada)
    await assert.rejects(signInPerson(ctx, { passkey: copy }), WENT_BACK)
    await assert.rejects(signInPerson(ctx, { passkey: copy }), WENT_BACK)
    await signInPerson(ctx, { passkey: copy })
  })

  test('the audit logs and the log of the operator say that a passkey may have been copied', async () => {
    const ada = await signUpMember(ctx)
    const warnings: { user?: string; passkey?: string; counter?: number }[] = []
    const watched = { ...ctx, logger: pino({}, { write: (line: string) => warnings.push(JSON.parse(line)) }) }
    const copy = restoreSoftwarePasskey(ada.passkey.export())
    await signInPerson(ctx, ada)
    const [first, second] = [await openSignIn(ctx), await openVerification(ctx, ada)]
    await assert.rejects(
      signIn(watched, { ...first, response: answer(copy, first.options), device: DEVICE }),
      WENT_BACK,
    )
    await signInPerson(ctx, ada)
    const response = answer(copy, second.options)
    await assert.rejects(verifySession(watched, { ...ada, ...second, response }), WENT_BACK)
    const entry = { action: 'passkey.counter_went_back', actor_kind: 'user', actor_id: ada.userId }
    const own = (await readAudit(ctx.db, ada.userId)).filter(({ action }) => action === entry.action)
    assert.deepEqual(
      own.map(({ details }) => details),
      [{ counter: 1 }, { counter: 2 }],
    )
    for (const row of own) assert.deepEqual({ ...row, ...entry, subject: copy.credentialId }, row)
    const [workspace] = await readRows(ctx.db, 'select workspace_id from members where user_id = $1', [ada.userId])
    const actions = await listAuditActions(ctx.db, String(workspace?.['workspace_id']))
    assert.equal(actions.filter((action) => action === entry.action).length, 2)
    assert.deepEqual(
      warnings.map(({ user, passkey, counter }) => [user, passkey, counter]),
      [
        [ada.userId, copy.credentialId, 1],
        [ada.userId, copy.credentialId, 2],
      ],
    )
  })

  test('without a valid signature, a low counter is no sign of a copied passkey, and leaves no record', async () => {
    const ada = await signUpMember(ctx)
    await signInPerson(ctx, ada)
    const { ceremony, options } = await openSignIn(ctx)
    const forger = restoreSoftwarePasskey({
      ...makePasskey(ctx, ada.passkey.export().userHandle).export(),
      credentialId: ada.passkey.credentialId,
    })
    const response = answer(forger, options)
    await assert.rejects(signIn(ctx, { ceremony, response, device: DEVICE }), INVALID)
    assert.ok(!(await listAuditActions(ctx.db, ada.userId)).includes('passkey.counter_went_back'))
  })

  test('one value of the signature counter allows one sign-in, even if two requests use it at once', async () => {
    const ada = await signUpPerson(ctx)
    await openConnections(ctx.db)
    const copies = Array.from({ length: 8 }, () => ({ passkey: restoreSoftwarePasskey(ada.passkey.export()) }))
    const outcomes = await Promise.allSettled(copies.map((copy) => signInPerson(ctx, copy)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test('a passkey that does not count its signatures is always accepted', async () => {
    const ada = await signUpPerson(ctx)
    const stored = { ...ada.passkey.export(), counter: -1 }
    for (let round = 0; round < 3; round += 1) {
      await signInPerson(ctx, { passkey: restoreSoftwarePasskey(stored) })
    }
    const [passkey] = await listPasskeys(ctx, ada)
    assert.equal(passkey?.counter, 0)
  })

  test('a sign-up with an invalid response creates no user', async () => {
    const counted = async () => (await readRows(ctx.db, 'select count(*) as n from users'))[0]?.['n']
    const earlier = await counted()
    const { relyingParty } = ctx
    const wrong: readonly (readonly [string, Context['relyingParty'], boolean])[] = [
      ['challenge', relyingParty, false],
      ['origin', { ...relyingParty, origin: 'http://evil.example' }, true],
      ['relying party', { ...relyingParty, id: 'evil.example' }, true],
    ]
    for (const [what, payer, isRightChallenge] of wrong) {
      const { ceremony, options } = await openSignUp(ctx, { name: 'Eve', policy: 'open' })
      const passkey = makePasskey({ relyingParty: payer }, options.user.id)
      const response = passkey.register(isRightChallenge ? toBytes(options.challenge) : randomBytes(32))
      await assert.rejects(signUp(ctx, { ceremony, response, device: DEVICE }), INVALID, what)
      const right = makePasskey(ctx, options.user.id).register(toBytes(options.challenge))
      await assert.rejects(signUp(ctx, { ceremony, response: right, device: DEVICE }), EXPIRED, what)
    }
    const { ceremony, options } = await openSignUp(ctx, { name: 'Eve', policy: 'open' })
    const answered = makePasskey(ctx, options.user.id).register(toBytes(options.challenge))
    const client = Buffer.from(answered.response.clientDataJSON, 'base64url').toString()
    const framed = Buffer.from(client.replace('"crossOrigin":false', '"crossOrigin":true')).toString('base64url')
    const response = { ...answered, response: { ...answered.response, clientDataJSON: framed } }
    await assert.rejects(signUp(ctx, { ceremony, response, device: DEVICE }), INVALID)
    assert.equal(await counted(), earlier)
  })

  test('a sign-up with 20 concurrent responses creates one user', async () => {
    await openConnections(ctx.db)
    const { ceremony, options } = await openSignUp(ctx, { name: 'Twenty', policy: 'open' })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => {
        const response = makePasskey(ctx, options.user.id).register(toBytes(options.challenge))
        return signUp(ctx, { ceremony, response, device: DEVICE })
      }),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await readRows(ctx.db, "select 1 from users where name = 'Twenty'")).length, 1)
  })

  test('a passkey that is already registered cannot be registered for another user, and the attempt leaves nothing behind', async () => {
    const ada = await signUpPerson(ctx)
    const { ceremony, options } = await openSignUp(ctx, { name: 'Mallory', policy: 'open' })
    const response = ada.passkey.register(toBytes(options.challenge))
    await assert.rejects(signUp(ctx, { ceremony, response, device: DEVICE }), { status: 409, code: 'passkey_exists' })
    assert.equal((await readRows(ctx.db, "select 1 from users where name = 'Mallory'")).length, 0)
  })

  test('from the first workspace on, each action is logged for the user once', async () => {
    const ada = await signUpMember(ctx)
    await signInPerson(ctx, ada)
    const row = { actor_kind: 'user', actor_id: ada.userId }
    const passkeys = [ada.passkey.credentialId]
    const signed_up_at = ada.session.createdAt.toISOString()
    assert.deepEqual(await readAudit(ctx.db, ada.userId), [
      { ...row, action: 'user.signed_up', subject: null, details: { signed_up_at, passkeys } },
      { ...row, action: 'user.signed_in', subject: ada.passkey.credentialId, details: { device: DEVICE } },
    ])
  })

  test('nothing is logged for a user without a workspace; joining the first one logs their sign-up once', async () => {
    const ada = await signUpPerson(ctx)
    await signInPerson(ctx, ada)
    await endSession(ctx, ada)
    assert.deepEqual(await readAudit(ctx.db, ada.userId), [])
    await createWorkspace(ctx, { userId: ada.userId, name: 'First' })
    await createWorkspace(ctx, { userId: ada.userId, name: 'Second' })
    const actions = await listAuditActions(ctx.db, ada.userId)
    assert.deepEqual(actions, ['user.signed_up'])
  })
})

/** An assertion that is correct except for the given changes. */
function forge(
  passkey: Person['passkey'],
  {
    challenge,
    flags = 0x05,
    crossOrigin = false,
    type = 'webauthn.get',
  }: { challenge: string; flags?: number; crossOrigin?: boolean; type?: string },
): PasskeyAssertion {
  const { origin, privateKeyJwk } = passkey.export()
  const { response, ...rest } = passkey.assert(toBytes(challenge))
  const data = Buffer.from(response.authenticatorData, 'base64url')
  data.writeUInt8(flags, FLAGS_OFFSET)
  const client = Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }))
  const key = createPrivateKey({ key: privateKeyJwk, format: 'jwk' })
  const signature = sign('sha256', Buffer.concat([data, hash('sha256', client, 'buffer')]), key)
  return {
    ...rest,
    response: {
      ...response,
      authenticatorData: data.toString('base64url'),
      clientDataJSON: client.toString('base64url'),
      signature: signature.toString('base64url'),
    },
  }
}
