import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openSandboxEnclave } from '../../../../test/support/context/enclave-context.ts'
import { openOwned, type Owned } from '../../../../test/support/context/grant-fixture.ts'
import { changeOwners, usedOn } from '../../../../test/support/context/owner-fixture.ts'
import { addWalletOwner } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { openEnclave } from '../../enclave/privy/open-enclave.ts'
import type { Context } from '../context.ts'
import { listSlots } from '../wallets/slots-store.ts'
import { getWalletRecord } from './get-wallet-record.ts'
import { signWalletRecord } from './sign-wallet-record.ts'

const INVALID = { status: 400, code: 'signature_invalid' } as const

describe('the record of a wallet', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('names what belongs to the wallet, and is returned with the signatures of its owners', async () => {
    const owned = await openOwned(ctx)
    const { wallet, owner } = owned
    const slots = await ctx.db.read(listSlots(wallet))
    const { statement, assertions, owners } = await getWalletRecord(ctx, placeOf(owned))
    assert.deepEqual(JSON.parse(Buffer.from(statement).toString()), {
      address: wallet.address,
      app_id: given.config.enclave.appId,
      bursar: 'wallet-record',
      enclave_url: given.config.enclave.apiUrl,
      policies: slots.map(({ enclaveRulesId }) => enclaveRulesId),
      quorum_id: wallet.enclaveOwnersId,
      signers: slots.map(({ signerId }) => signerId),
      version: 1,
      wallet_id: wallet.enclaveWalletId,
    })
    assert.equal(slots.length, ctx.walletSlots)
    assert.deepEqual(assertions, [])
    assert.deepEqual(owners, [
      { credentialId: owner.credentialId, publicKey: owner.publicKeySpki, name: 'Wallet passkey' },
    ])

    const assertion = owner.assert(statement)
    await sign(owned, assertion)
    const { authenticatorData, clientDataJSON, signature } = assertion.response
    const expected = { credentialId: owner.credentialId, authenticatorData, clientDataJSON, signature }
    assert.deepEqual((await getWalletRecord(ctx, placeOf(owned))).assertions, [expected])
    assert.deepEqual((await readAudit(ctx.db, owned.workspaceId)).at(-1), {
      ...{ actor_kind: 'user', actor_id: owned.actor.id, action: 'wallet.record_signed', subject: wallet.address },
      details: { mode: 'test', credential_id: owner.credentialId },
    })
  })

  test('stays the same when owners are added and removed, and an owner may sign it again', async () => {
    const owned = await openOwned(ctx)
    const { statement } = await getWalletRecord(ctx, placeOf(owned))
    await sign(owned, owned.owner.assert(statement))
    const second = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, owned, { kind: 'add_owner', credentialId: second.credentialId })
    assert.deepEqual((await getWalletRecord(ctx, placeOf(owned))).statement, statement)
    await sign(owned, second.assert(statement))
    await sign(owned, second.assert(statement))
    assert.deepEqual(await listSigners(owned), [owned.owner.credentialId, second.credentialId])
    await changeOwners(ctx, owned, { kind: 'remove_owner', credentialId: owned.owner.credentialId, by: second })
    assert.deepEqual(await listSigners(owned), [second.credentialId])
    await assert.rejects(sign(owned, owned.owner.assert(statement)), INVALID)
  })

  test('is signed by an owner on the signer page only', async () => {
    const owned = await openOwned(ctx)
    const { statement } = await getWalletRecord(ctx, placeOf(owned))
    const stranger = await addWalletOwner(ctx, owned.actor.id)
    for (const passkey of [stranger, usedOn(owned.owner, ctx.relyingParty)]) {
      await assert.rejects(sign(owned, passkey.assert(statement)), INVALID)
    }
    const other = await openOwned(ctx)
    const { statement: foreign } = await getWalletRecord(ctx, placeOf(other))
    const stale = { status: 409, code: 'signing_request_stale' } as const
    await assert.rejects(sign(owned, owned.owner.assert(foreign)), stale)
    await assert.rejects(sign({ ...owned, workspaceId: other.workspaceId }, owned.owner.assert(statement)), {
      code: 'wallet_not_found',
    })
    assert.deepEqual(await listSigners(owned), [])
  })

  test('is confirmed anew after the enclave has another address', async () => {
    const owned = await openOwned(ctx)
    const { statement } = await getWalletRecord(ctx, placeOf(owned))
    await sign(owned, owned.owner.assert(statement))
    const options = { ...given.config.enclave, apiUrl: 'https://enclave.example', timeoutMs: 1_000 }
    const moved = openEnclave(options, ctx)
    const record = await getWalletRecord({ ...ctx, enclave: moved }, placeOf(owned))
    moved.close()
    assert.deepEqual(record.assertions, [])
    assert.notDeepEqual(record.statement, statement)
  })

  async function sign(owned: Owned, assertion: ReturnType<Owned['owner']['assert']>): Promise<void> {
    await signWalletRecord(ctx, { ...placeOf(owned), assertion, actor: owned.actor })
  }

  async function listSigners(owned: Owned): Promise<string[]> {
    return (await getWalletRecord(ctx, placeOf(owned))).assertions.map(({ credentialId }) => credentialId)
  }

  function placeOf({ workspaceId, mode, wallet: { address } }: Owned) {
    return { workspaceId, mode, address }
  }
})
