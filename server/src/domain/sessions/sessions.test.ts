import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listAuditActions } from '../../../../test/support/context/audit.ts'
import { frozenAt, later } from '../../../../test/support/context/moved-clock.ts'
import {
  answer,
  DEVICE,
  signInPerson,
  signUpMember,
  signUpPerson,
  type Person,
} from '../../../../test/support/context/people.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import { endOtherSessions } from './end-other-sessions.ts'
import { endSession } from './end-session.ts'
import { findSession } from './find-session.ts'
import { issueRecoveryCodes } from '../passkeys/issue-recovery-codes.ts'
import { openSignIn } from './open-sign-in.ts'
import { openVerification } from './open-verification.ts'
import { RECENT_PROOF_MS } from '../require-recent-proof.ts'
import { SESSIONS_MAX, SESSION_IDLE_MS, SESSION_MS, type Session } from './session.ts'
import { signIn } from './sign-in.ts'
import { verifySession } from './verify-session.ts'

const HOUR_MS = 3_600_000

describe('sessions', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a session ends when its user was not seen for 12 hours', async () => {
    const { session, secret } = await signUpPerson(ctx)
    const find = (milliseconds: number) => findAt(secret, session.createdAt, milliseconds)
    assert.ok((await find(SESSION_IDLE_MS - 1)) !== null)
    // The user was seen, so the 12 hours start again.
    assert.ok((await find(2 * SESSION_IDLE_MS - 2)) !== null)
    assert.equal(await find(3 * SESSION_IDLE_MS - 2), null)
  })

  test('a session ends after 7 days, however often it is used', async () => {
    const { session, secret } = await signUpPerson(ctx)
    const find = (milliseconds: number) => findAt(secret, session.createdAt, milliseconds)
    for (let time = 6 * HOUR_MS; time < SESSION_MS; time += 6 * HOUR_MS) assert.ok((await find(time)) !== null)
    assert.ok((await find(SESSION_MS - 1)) !== null)
    assert.equal(await find(SESSION_MS), null)
  })

  test("an authenticator asked for a passkey by its id may omit the user handle, but must not return another user's", async () => {
    const { session, passkey } = await signUpPerson(ctx)
    const prove = async (userHandle: string | undefined) => {
      const { ceremony, options } = await openVerification(ctx, { session })
      const whole = answer(passkey, options)
      const { userHandle: told, ...rest } = whole.response
      const response = { ...whole, response: { ...rest, ...(userHandle === undefined ? {} : { userHandle }) } }
      assert.notEqual(told, userHandle)
      return await verifySession(ctx, { session, ceremony, response })
    }
    await assert.rejects(prove('AAAA'), { code: 'passkey_invalid' })
    assert.equal((await prove(undefined)).session.userId, session.userId)
    // Without the user handle, the service cannot know who signs in.
    const { ceremony, options } = await openSignIn(ctx)
    const whole = answer(passkey, options)
    const { userHandle: _, ...rest } = whole.response
    const response = { ...whole, response: rest }
    await assert.rejects(signIn(ctx, { ceremony, response, device: DEVICE }), { code: 'passkey_invalid' })
  })

  test('unattended requests of a page do not keep a session alive', async () => {
    const { session, secret } = await signUpPerson(ctx)
    const { db } = ctx
    const findAfter = (milliseconds: number, isAttended: boolean) =>
      findSession(
        { db, clock: { now: () => new Date(session.createdAt.getTime() + milliseconds) } },
        { secret, isAttended },
      )
    assert.notEqual(await findAfter(SESSION_IDLE_MS - 1, false), null)
    assert.equal(await findAfter(SESSION_IDLE_MS, false), null)
    assert.notEqual(await findAfter(SESSION_IDLE_MS - 1, true), null)
    assert.notEqual(await findAfter(SESSION_IDLE_MS, false), null)
  })

  test('the time at which a user was last seen is written at most once a minute', async () => {
    const { session, secret } = await signUpPerson(ctx)
    const seenAfter = async (milliseconds: number) => {
      await findAt(secret, session.createdAt, milliseconds)
      const rows = await readRows(ctx.db, 'select last_seen_at from sessions where secret_hash = $1', [
        session.secretHash,
      ])
      return Number(rows[0]?.['last_seen_at']) - session.createdAt.getTime()
    }
    assert.deepEqual([await seenAfter(59_999), await seenAfter(60_000), await seenAfter(119_999)], [0, 60_000, 60_000])
  })

  test('a malformed or unknown secret finds no session', async () => {
    const { secret, session } = await signUpPerson(ctx)
    const faults = ['', secret.slice(0, -1), secret.toUpperCase(), session.secretHash.toString('hex')]
    for (const text of [...faults, createSecret(SECRET_PREFIXES.session), createSecret(SECRET_PREFIXES.ceremony)]) {
      assert.equal(await findSession(ctx, { secret: text }), null)
    }
  })

  test('only the hash of the secret of a session or a challenge is stored', async () => {
    const { secret } = await signUpPerson(ctx)
    const { ceremony } = await openSignIn(ctx)
    const rows = await readRows(
      ctx.db,
      `select sessions::text as row from sessions union all select ceremonies::text from ceremonies
        union all select audit_entries::text from audit_entries`,
    )
    for (const row of rows) {
      for (const text of [secret, ceremony]) {
        assert.ok(!String(row['row']).includes(text))
        assert.ok(!String(row['row']).includes(Buffer.from(text).toString('hex')))
      }
    }
  })

  test('a proof of presence is recent for 10 minutes, and a sign-in is such a proof', async () => {
    const { session } = await signUpPerson(ctx)
    const issueAt = (milliseconds: number) =>
      issueRecoveryCodes(frozenAt(ctx, new Date(session.verifiedAt.getTime() + milliseconds)), { session })
    await issueAt(RECENT_PROOF_MS - 1)
    await assert.rejects(issueAt(RECENT_PROOF_MS), { status: 403, code: 'verification_required' })
  })

  test('a verification gives the session a new secret, and the old one stops working', async () => {
    const ada = await signUpMember(ctx)
    const then = later(ctx, RECENT_PROOF_MS)
    const stale = await findSession(then, ada)
    assert.ok(stale !== null)
    const verified = await verify(then, ada, stale)
    assert.equal(await findSession(then, ada), null)
    const session = await findSession(then, verified)
    assert.deepEqual(session, verified.session)
    assert.deepEqual(session?.createdAt, ada.session.createdAt)
    assert.deepEqual(session.expiresAt, ada.session.expiresAt)
    await issueRecoveryCodes(then, { session })
    assert.deepEqual(await listAuditActions(ctx.db, ada.userId), [
      'user.signed_up',
      'user.verified',
      'recovery_codes.issued',
    ])
  })

  test('a secret that was planted before the sign-in does not work after it', async () => {
    const ada = await signUpPerson(ctx)
    const planted = createSecret(SECRET_PREFIXES.session)
    const { secret } = await signInPerson(ctx, ada)
    assert.notEqual(secret, planted)
    assert.equal(await findSession(ctx, { secret: planted }), null)
  })

  test('a session can only be verified by its own user', async () => {
    const [ada, eve] = [await signUpPerson(ctx), await signUpPerson(ctx)]
    const { ceremony, options } = await openVerification(ctx, ada)
    assert.deepEqual(
      options.allowCredentials?.map(({ id }) => id),
      [ada.passkey.credentialId],
    )
    const response = answer(eve.passkey, options)
    await assert.rejects(verifySession(ctx, { session: ada.session, ceremony, response }), { code: 'passkey_invalid' })

    const ofAda = await openVerification(ctx, ada)
    const byEve = { session: eve.session, ceremony: ofAda.ceremony, response: answer(eve.passkey, ofAda.options) }
    await assert.rejects(verifySession(ctx, byEve), { code: 'ceremony_expired' })
    assert.ok((await findSession(ctx, ada)) !== null)
    assert.ok((await findSession(ctx, eve)) !== null)
  })

  test('the challenge of a sign-in cannot verify a session, and the challenge of a verification cannot sign in', async () => {
    const ada = await signUpPerson(ctx)
    const forSignIn = await openSignIn(ctx)
    const response = answer(ada.passkey, forSignIn.options)
    await assert.rejects(verifySession(ctx, { session: ada.session, ceremony: forSignIn.ceremony, response }), {
      code: 'ceremony_expired',
    })
    const { ceremony, options } = await openVerification(ctx, ada)
    await assert.rejects(signIn(ctx, { ceremony, response: answer(ada.passkey, options), device: DEVICE }), {
      code: 'ceremony_expired',
    })
  })

  test('a session that has ended meanwhile is not verified, and no new one is created', async () => {
    const ada = await signUpMember(ctx)
    await endSession(ctx, ada)
    await assert.rejects(verify(ctx, ada, ada.session), { status: 401, type: 'unauthenticated' })
    assert.equal((await readRows(ctx.db, 'select 1 from sessions where user_id = $1', [ada.userId])).length, 0)
    assert.ok(!(await listAuditActions(ctx.db, ada.userId)).includes('user.verified'))
  })

  test('of five concurrent verifications of one session, one gets the new secret', async () => {
    const ada = await signUpPerson(ctx)
    await openConnections(ctx.db)
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => verify(ctx, ada, ada.session)))
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    const alive = await readRows(ctx.db, 'select secret_hash from sessions where user_id = $1', [ada.userId])
    assert.deepEqual(
      alive.map((row) => row['secret_hash'] as Buffer),
      won.map(({ session }) => session.secretHash),
    )
    assert.equal(won.length, 1)
  })

  test('after a sign-out the next request on another process is rejected, and the sign-out is logged once', async () => {
    const ada = await signUpMember(ctx)
    const other = given.openAnother()
    assert.ok((await findSession(other, ada)) !== null)
    await Promise.all([endSession(ctx, ada), endSession(ctx, ada), endSession(other, ada)])
    assert.equal(await findSession(other, ada), null)
    assert.deepEqual(await listAuditActions(ctx.db, ada.userId), ['user.signed_up', 'user.signed_out'])
  })

  test('a sign-out ends a session even if it was verified meanwhile, and ends no other session', async () => {
    const ada = await signUpMember(ctx)
    const other = await signInPerson(ctx, ada)
    const renewed = await verify(ctx, ada, ada.session)
    assert.equal(await endSession(ctx, ada), true)
    assert.equal(await findSession(ctx, renewed), null)
    assert.ok((await findSession(ctx, other)) !== null)
    assert.equal(await endSession(ctx, ada), false)
    assert.equal(await endSession(ctx, renewed), false)
    assert.ok((await findSession(ctx, other)) !== null)
    const actions = await listAuditActions(ctx.db, ada.userId)
    assert.equal(actions.filter((action) => action === 'user.signed_out').length, 1)
  })

  test('all other sessions of a user are ended, but no sessions of other users', async () => {
    const [ada, eve] = [await signUpMember(ctx), await signUpPerson(ctx)]
    const others = [await signInPerson(ctx, ada), await signInPerson(ctx, ada)]
    assert.equal(await endOtherSessions(ctx, ada), 2)
    for (const other of others) assert.equal(await findSession(ctx, other), null)
    for (const kept of [ada, eve]) assert.ok((await findSession(ctx, kept)) !== null)
    assert.equal(await endOtherSessions(ctx, ada), 0)
    const actions = await listAuditActions(ctx.db, ada.userId)
    assert.deepEqual(actions, ['user.signed_up', 'user.signed_in', 'user.signed_in', 'user.signed_out'])
  })

  test(`only the newest ${SESSIONS_MAX} sessions of a user are kept`, async () => {
    const ada = await signUpPerson(ctx)
    let last = ada.secret
    for (let index = 1; index <= SESSIONS_MAX; index += 1) {
      last = (await signInPerson(later(ctx, index * 10), ada)).secret
    }
    assert.equal(await findSession(ctx, ada), null)
    assert.ok((await findSession(ctx, { secret: last })) !== null)
    const rows = await readRows(ctx.db, 'select 1 from sessions where user_id = $1', [ada.userId])
    assert.equal(rows.length, SESSIONS_MAX)
  })

  test('only sessions and challenges that have ended are cleaned up', async () => {
    const ended = later(ctx, 2 * SESSION_MS)
    await cleanUpOnce(ended, 'sessions')
    const ada = await signUpPerson(ctx)
    await openSignIn(ctx)
    const stands = { ...ada, opened: await openSignIn(later(ctx, SESSION_MS)) }
    const renewed = await signInPerson(later(ctx, HOUR_MS), ada)
    assert.equal(await cleanUpOnce(ctx, 'sessions'), 0)
    assert.equal(await cleanUpOnce(frozenAt(ctx, ada.session.expiresAt), 'sessions'), 2)
    assert.equal(await findSession(ctx, ada), null)
    assert.ok((await findSession(later(ctx, HOUR_MS), renewed)) !== null)
    const response = answer(stands.passkey, stands.opened.options)
    await signIn(later(ctx, SESSION_MS), { ceremony: stands.opened.ceremony, response, device: DEVICE })
  })

  function findAt(secret: string, start: Date, milliseconds: number): Promise<Session | null> {
    return findSession(frozenAt(ctx, new Date(start.getTime() + milliseconds)), { secret })
  }

  async function verify(at: Context, { passkey }: Person, session: Session) {
    const { ceremony, options } = await openVerification(at, { session })
    return await verifySession(at, { session, ceremony, response: answer(passkey, options) })
  }
})
