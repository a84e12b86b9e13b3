import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkRequest } from '../../signer/src/check-request.ts'
import { decodeRequest } from '../../signer/src/decode/request.ts'
import { findRecord, type SignedRecord } from '../../signer/src/find-record.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { issueSigningRequest } from '../../server/src/domain/grants/issue-signing-request.ts'
import { getWalletRecord } from '../../server/src/domain/owners/get-wallet-record.ts'
import { buildPayload } from '../../server/src/enclave/privy/request-to-sign.ts'
import { openSandboxEnclave } from '../support/context/enclave-context.ts'
import { openOwned, openPending, type Owned } from '../support/context/grant-fixture.ts'
import { changeOwners, prepareChange, signRecord } from '../support/context/owner-fixture.ts'
import { addWalletOwner } from '../support/context/people.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'

/** The signer page decodes requests with code of its own. Here, it decodes requests that the service has made. */
describe('what the service asks owners to sign, as the signer page reads it', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('the record of a wallet is one, and is believed once an owner has signed it', async () => {
    const owned = await openOwned(ctx)
    const { statement } = await getWalletRecord(ctx, placeOf(owned))
    const decoded = decodeRequest(statement)
    assert.equal(decoded.kind, 'record')
    await assert.rejects(findSigned(owned), { code: 'record_required' })
    await signRecord(ctx, owned)
    const { record, signers } = await findSigned(owned)
    assert.deepEqual(decoded, { kind: 'record', record })
    assert.deepEqual(
      signers.map(({ id }) => id),
      [owned.owner.credentialId],
    )
    assert.equal(record.address, owned.wallet.address.toLowerCase())
  })

  test('a change of owners is one of the wallet of the record', async () => {
    const owned = await openOwned(ctx)
    await signRecord(ctx, owned)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const { payload } = await prepareChange(ctx, owned, { kind: 'add_owner', credentialId: second.credentialId })
    const decoded = decodeRequest(payload)
    assert.ok(decoded.kind === 'owners')
    assert.deepEqual(decoded.publicKeys, [owned.owner.publicKeySpki, second.publicKeySpki])
    checkRequest(decoded, (await findSigned(owned)).record, ctx.clock.now())
    const other = await openOwned(ctx)
    await signRecord(ctx, other)
    const { record: foreign } = await findSigned(other)
    assert.throws(() => checkRequest(decoded, foreign, ctx.clock.now()), { code: 'request_not_of_wallet' })
  })

  test('the terms of a grant are rules of a slot of the wallet of the record', async () => {
    const owned = await openOwned(ctx)
    await signRecord(ctx, owned)
    const { id: grantId } = await openPending(ctx, owned)
    const { workspaceId, actor } = owned
    const { request } = await issueSigningRequest(ctx, { workspaceId, grantId, change: 'activate', actor })
    assert.ok(request !== null)
    const decoded = decodeRequest(request.payload)
    assert.ok(decoded.kind === 'policy' && decoded.terms !== null)
    checkRequest(decoded, (await findSigned(owned)).record, ctx.clock.now())
  })

  test('a passkey that was added signs only after it has signed the record too', async () => {
    const owned = await openOwned(ctx)
    await signRecord(ctx, owned)
    const second = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, owned, { kind: 'add_owner', credentialId: second.credentialId })
    const listSigners = async () => (await findSigned(owned)).signers.map(({ id }) => id)
    assert.deepEqual(await listSigners(), [owned.owner.credentialId])
    await signRecord(ctx, owned, second)
    assert.deepEqual(await listSigners(), [owned.owner.credentialId, second.credentialId])
  })

  test('a request that gives the wallet other owners is refused', async () => {
    const { wallet } = await openOwned(ctx)
    const body = { owner_id: wallet.enclaveOwnersId, additional_signers: [] }
    const path = ['wallets', wallet.enclaveWalletId] as const
    const payload = buildPayload(given.config.enclave, { path, body, expiresAt: ctx.clock.now() })
    assert.throws(() => decodeRequest(payload), { code: 'request_unknown' })
  })

  /** Reads a wallet's record from the service, and returns what the code of the signer page finds in it. */
  async function findSigned(owned: Owned) {
    const { statement, assertions, owners } = await getWalletRecord(ctx, placeOf(owned))
    const signed: SignedRecord = { statement: Buffer.from(statement).toString('base64url'), assertions }
    const credentials = owners.map(({ credentialId: id, publicKey }) => {
      return { id, publicKey, rawId: Uint8Array.from(Buffer.from(id, 'base64url')) }
    })
    return await findRecord(signed, { credentials, rpId: ctx.signer?.id ?? '' })
  }

  function placeOf({ workspaceId, mode, wallet: { address } }: Owned) {
    return { workspaceId, mode, address }
  }
})
