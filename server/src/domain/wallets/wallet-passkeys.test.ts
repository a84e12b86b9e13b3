import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../../../sandbox/src/software-passkey.ts'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  addWalletOwner,
  answer,
  DEVICE,
  makePasskey,
  signUpMember,
  signUpPerson,
  toBytes,
  type Person,
} from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import type { Context } from '../context.ts'
import { CEREMONY_MS } from '../passkeys/ceremony.ts'
import { cleanUpNewcomers, NEWCOMER_RETENTION_MS } from '../passkeys/clean-up-newcomers.ts'
import { addPasskey } from '../passkeys/add-passkey.ts'
import { openPasskeyRegistration } from '../passkeys/open-passkey-registration.ts'
import { RECENT_PROOF_MS } from '../require-recent-proof.ts'
import { openSignIn } from '../sessions/open-sign-in.ts'
import { signIn } from '../sessions/sign-in.ts'
import { openWalletPasskeyRegistration } from './open-wallet-passkey-registration.ts'
import { registerWalletPasskey } from './register-wallet-passkey.ts'
import { removeUnusedWalletPasskey } from './remove-unused-wallet-passkey.ts'
import { renameWalletPasskey } from './rename-wallet-passkey.ts'
import { listWalletPasskeys } from './queries.ts'
import { WALLET_PASSKEYS_MAX } from './wallet.ts'

const NOT_FOUND = { status: 404, code: 'passkey_not_found' } as const
const INVALID = { status: 401, code: 'passkey_invalid' } as const
const UNPROVED = { status: 403, code: 'verification_required' } as const
const LIMIT = { status: 409, code: 'passkey_limit_reached' } as const

describe('wallet passkeys', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a person registers one for the signer page, and it is in their own log', async () => {
    const person = await signUpMember(ctx)
    const { options } = await open(person)
    assert.equal(options.rp.id, ctx.signer?.id)
    assert.deepEqual(options.pubKeyCredParams, [{ alg: -7, type: 'public-key' }])
    const passkey = makeWalletPasskey()
    await register(person, passkey, { name: ' Laptop ' })
    const [owned] = await listWalletPasskeys(ctx, person)
    assert.deepEqual(
      [owned?.passkey.credentialId, owned?.passkey.name, owned?.wallets],
      [passkey.credentialId, 'Laptop', 0],
    )
    assert.deepEqual(Buffer.from(owned?.passkey.publicKeyCose ?? []), Buffer.from(passkey.publicKeyCose))
    assert.deepEqual((await readAudit(ctx.db, person.userId)).at(-1), {
      ...{ actor_kind: 'user', actor_id: person.userId, action: 'wallet_passkey.added' },
      ...{ subject: passkey.credentialId, details: { name: 'Laptop' } },
    })
    const text = `select registration->>'attestationObject' as attested, registration->>'clientDataJSON' as client
      from wallet_passkeys where credential_id = $1`
    const [row] = await readRows(ctx.db, text, [passkey.credentialId])
    assert.ok(toBytes(String(row?.['attested'])).includes(toBytes(passkey.credentialId)))
    assert.match(toBytes(String(row?.['client'])).toString(), /^{"type":"webauthn.create"/)
  })

  test('each registration has a user handle of its own, so that no passkey replaces another one', async () => {
    const person = await signUpMember(ctx)
    const [first, second] = [await open(person), await open(person)]
    assert.notEqual(first.options.user.id, second.options.user.id)
    const passkey = makeWalletPasskey()
    await register(person, passkey)
    const { options } = await open(person)
    assert.deepEqual(
      options.excludeCredentials?.map(({ id }) => id),
      [passkey.credentialId],
    )
  })

  test('a passkey of the sign-in page cannot become one, and the other way round', async () => {
    const person = await signUpMember(ctx)
    const onSignInPage = makePasskey(ctx, person.passkey.credentialId)
    await assert.rejects(register(person, onSignInPage), INVALID)
    const { ceremony, options } = await openPasskeyRegistration(ctx, person)
    const response = makeWalletPasskey().register(toBytes(options.challenge))
    await assert.rejects(addPasskey(ctx, { session: person.session, ceremony, response, name: 'P' }), INVALID)
    assert.deepEqual(await listWalletPasskeys(ctx, person), [])
  })

  test('nobody signs in with a wallet passkey', async () => {
    const person = await signUpMember(ctx)
    const passkey = await addWalletOwner(ctx, person.userId)
    const { ceremony, options } = await openSignIn(ctx)
    const signed = signIn(ctx, { ceremony, response: answer(passkey, options), device: DEVICE })
    await assert.rejects(signed, { status: 401, code: 'passkey_unknown' })
  })

  test('a ceremony is used once, in time, by the person who began it, for this kind of passkey', async () => {
    const person = await signUpMember(ctx)
    const other = await signUpMember(ctx, 'Grace')
    const expired = { status: 400, code: 'ceremony_expired' } as const
    const { ceremony, options } = await open(person)
    const response = makeWalletPasskey().register(toBytes(options.challenge))
    const asked = { ceremony, response, name: 'P' }
    await assert.rejects(registerWalletPasskey(ctx, { ...asked, session: other.session }), expired)
    await assert.rejects(registerWalletPasskey(ctx, { ...asked, session: person.session }), expired)
    const late = await open(person)
    const answered = makeWalletPasskey().register(toBytes(late.options.challenge))
    await assert.rejects(
      registerWalletPasskey(later(ctx, CEREMONY_MS), {
        ...{ session: person.session, ceremony: late.ceremony, response: answered, name: 'P' },
      }),
      expired,
    )
    const signInCeremony = await openPasskeyRegistration(ctx, person)
    const wrong = makeWalletPasskey().register(toBytes(signInCeremony.options.challenge))
    await assert.rejects(
      registerWalletPasskey(ctx, {
        ...{ session: person.session, ceremony: signInCeremony.ceremony, response: wrong, name: 'P' },
      }),
      expired,
    )
    assert.deepEqual(await listWalletPasskeys(ctx, person), [])
  })

  test('registering and removing need a recent proof', async () => {
    const person = await signUpMember(ctx)
    const passkey = await addWalletOwner(ctx, person.userId)
    const then = later(ctx, RECENT_PROOF_MS)
    await assert.rejects(openWalletPasskeyRegistration(then, person), UNPROVED)
    const { ceremony, options } = await open(person)
    const response = makeWalletPasskey().register(toBytes(options.challenge))
    const asked = { session: person.session, ceremony, response, name: 'P' }
    await assert.rejects(registerWalletPasskey(then, asked), UNPROVED)
    const { credentialId } = passkey
    await assert.rejects(removeUnusedWalletPasskey(then, { session: person.session, credentialId }), UNPROVED)
    assert.equal((await listWalletPasskeys(ctx, person)).length, 1)
  })

  test('without a signer page none can be registered', async () => {
    const person = await signUpMember(ctx)
    const refused = { status: 409, code: 'signer_not_configured' } as const
    await assert.rejects(openWalletPasskeyRegistration({ ...ctx, signer: null }, person), refused)
  })

  test('a person has at most ten, even if they are added at once, and none twice', async () => {
    const person = await signUpMember(ctx)
    const passkey = makeWalletPasskey()
    await register(person, passkey)
    await assert.rejects(register(person, passkey), { status: 409, code: 'passkey_exists' })
    const added = Array.from({ length: WALLET_PASSKEYS_MAX + 1 }, () => addWalletOwner(ctx, person.userId))
    const outcomes = await Promise.allSettled(added)
    const made = outcomes.filter(({ status }) => status === 'fulfilled').length
    assert.equal(made, WALLET_PASSKEYS_MAX - 1)
    await assert.rejects(open(person), LIMIT)
    await assert.rejects(addWalletOwner(ctx, person.userId), LIMIT)
  })

  test('a person renames and removes their own only', async () => {
    const person = await signUpMember(ctx)
    const other = await signUpMember(ctx, 'Grace')
    const { credentialId } = await addWalletOwner(ctx, person.userId)
    await assert.rejects(renameWalletPasskey(ctx, { userId: other.userId, credentialId, name: 'X' }), NOT_FOUND)
    await assert.rejects(removeUnusedWalletPasskey(ctx, { session: other.session, credentialId }), NOT_FOUND)
    const blank = renameWalletPasskey(ctx, { userId: person.userId, credentialId, name: ' ' })
    await assert.rejects(blank, { status: 400 })
    await renameWalletPasskey(ctx, { userId: person.userId, credentialId, name: 'Phone' })
    assert.equal((await listWalletPasskeys(ctx, person))[0]?.passkey.name, 'Phone')
    await removeUnusedWalletPasskey(ctx, { session: person.session, credentialId })
    assert.deepEqual(await listWalletPasskeys(ctx, person), [])
    await assert.rejects(removeUnusedWalletPasskey(ctx, { session: person.session, credentialId }), NOT_FOUND)
    const log = (await readAudit(ctx.db, person.userId)).map(({ action }) => action)
    assert.deepEqual(log.slice(-2), ['wallet_passkey.renamed', 'wallet_passkey.removed'])
  })

  test('a person who never joined a workspace is deleted with their wallet passkeys', async () => {
    const person = await signUpPerson(ctx)
    await addWalletOwner(ctx, person.userId)
    while ((await cleanUpNewcomers(later(ctx, NEWCOMER_RETENTION_MS + 1_000))) > 0);
    assert.deepEqual(await listWalletPasskeys(ctx, person), [])
    assert.deepEqual(await readRows(ctx.db, 'select id from users where id = $1', [person.userId]), [])
  })

  function makeWalletPasskey(): SoftwarePasskey {
    assert.ok(ctx.signer !== null)
    return createSoftwarePasskey({ rpId: ctx.signer.id, origin: ctx.signer.origin })
  }

  async function open(person: Person) {
    return await openWalletPasskeyRegistration(ctx, person)
  }

  async function register(person: Person, passkey: SoftwarePasskey, { name = 'P' } = {}): Promise<void> {
    const { ceremony, options } = await open(person)
    const response: RegistrationResponseJSON = passkey.register(toBytes(options.challenge))
    await registerWalletPasskey(ctx, { session: person.session, ceremony, response, name })
  }
})
