import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import { openOwned, openPending, signChange, type Owned } from '../../../../test/support/context/grant-fixture.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeOwners,
  findChangeMade,
  prepareChange,
  readOwners,
  submit,
  usedOn,
} from '../../../../test/support/context/owner-fixture.ts'
import { addWalletOwner, justProved, seedOwner, signUpPerson } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import { lockWorkspace } from '../workspaces/workspaces-store.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { insertMember } from '../members/members-store.ts'
import { removeUnusedWalletPasskey } from '../wallets/remove-unused-wallet-passkey.ts'
import { OWNER_REQUEST_RETENTION_MS, cleanUpOnce } from '../../jobs/clean-up.ts'
import { OWNERS_MAX } from '../wallets/wallet.ts'
import { openOwnerChange } from './open-owner-change.ts'
import type { Context } from '../context.ts'

const STALE = { status: 409, code: 'signing_request_stale' } as const
const INVALID = { status: 400, code: 'signature_invalid' } as const
const UNDER_WAY = { status: 409, code: 'signer_change_under_way' } as const
const FENCE_MS = SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS

describe('the owners of a wallet', () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    ctx = given.context
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  test('an owner adds a second passkey, which then signs grants, and is removed by the first one', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const { requestId, payload, signers } = await prepareChange(ctx, owned, add(second))
    assert.deepEqual(signers, [owned.owner.credentialId])
    const done = await submit(ctx, owned, { requestId, assertion: owned.owner.assert(payload) })
    assert.ok(done.doneAt !== null)
    await expectOwners(owned, [owned.owner, second])
    const { id: grantId } = await openPending(ctx, owned)
    assert.equal((await signChange(ctx, { ...owned, owner: second }, { grantId, change: 'activate' })).status, 'active')

    await changeOwners(ctx, owned, remove(second))
    await expectOwners(owned, [owned.owner])
    await assert.rejects(signChange(ctx, { ...owned, owner: second }, { grantId, change: 'revoke' }), INVALID)
    const details = { mode: owned.mode, credential_id: second.credentialId }
    const entry = { actor_kind: 'user', actor_id: owned.actor.id, subject: owned.wallet.address, details }
    assert.deepEqual(
      (await readAudit(ctx.db, owned.workspaceId)).filter(({ action }) => String(action).startsWith('wallet.owner')),
      [
        { ...entry, action: 'wallet.owner_added' },
        { ...entry, action: 'wallet.owner_removed' },
      ],
    )
  })

  test('a lost passkey is removed by another owner, and not by itself', async () => {
    const { owned, second } = await openTwoOwners()
    const { requestId, payload, signers } = await prepareChange(ctx, owned, remove(owned.owner))
    assert.deepEqual(signers, [second.credentialId])
    await assert.rejects(submit(ctx, owned, { requestId, assertion: owned.owner.assert(payload) }), INVALID)
    await submit(ctx, owned, { requestId, assertion: second.assert(payload) })
    await expectOwners(owned, [second])
  })

  test('the last owner stays', async () => {
    const owned = await openOwned(ctx)
    const code = 'last_wallet_owner'
    await assert.rejects(prepareChange(ctx, owned, remove(owned.owner)), { status: 409, code })
    await expectNothingStored(owned)
  })

  test('of two removals at once that would leave nobody, one takes effect', async () => {
    const { owned, second } = await openTwoOwners()
    const first = await prepareChange(ctx, owned, remove(owned.owner))
    const other = await prepareChange(ctx, owned, remove(second))
    const outcomes = await Promise.allSettled([
      submit(ctx, owned, { requestId: first.requestId, assertion: second.assert(first.payload) }),
      submit(given.openAnother(), owned, {
        requestId: other.requestId,
        assertion: owned.owner.assert(other.payload),
      }),
    ])
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    assert.equal((await readOwners(ctx, owned)).length, 1)
    assert.equal((await ctx.enclave.readOwners(owned.wallet))?.length, 1)
  })

  test('a request that was prepared before another change is rejected', async () => {
    const { owned, second } = await openTwoOwners()
    const third = await addWalletOwner(ctx, owned.actor.id)
    const old = await prepareChange(ctx, owned, add(third))
    await changeOwners(ctx, owned, remove(second))
    const signed = { requestId: old.requestId, assertion: owned.owner.assert(old.payload) }
    await assert.rejects(submit(ctx, owned, signed), STALE)
    await expectOwners(owned, [owned.owner])
    await changeOwners(ctx, owned, add(third))
    await expectOwners(owned, [owned.owner, third])
  })

  test('a request is returned again while it can be used, and is rejected after it has expired', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const prepared = await prepareChange(ctx, owned, add(second))
    assert.deepEqual(await prepareChange(ctx, owned, add(second)), prepared)
    const then = later(ctx, SIGNING_REQUEST_MS)
    const signed = { requestId: prepared.requestId, assertion: owned.owner.assert(prepared.payload) }
    await assert.rejects(submit(then, owned, signed), { status: 409, code: 'signing_request_expired' })
    assert.notEqual((await prepareChange(then, owned, add(second))).requestId, prepared.requestId)
  })

  test('only a wallet passkey of one’s own can be added, once, to a wallet of the workspace, up to the limit', async () => {
    const owned = await openOwned(ctx)
    const { userId } = await signUpPerson(ctx, 'Grace')
    const foreign = await addWalletOwner(ctx, userId)
    const unknown = { kind: 'add_owner', credentialId: 'AAAA' } as const
    const notFound = { status: 404, code: 'passkey_not_found' }
    for (const wanted of [add(foreign), unknown]) await assert.rejects(prepareChange(ctx, owned, wanted), notFound)
    await assert.rejects(prepareChange(ctx, owned, add(owned.owner)), { status: 409, code: 'owner_exists' })
    await assert.rejects(prepareChange(ctx, owned, remove(foreign)), { status: 404, code: 'owner_not_found' })
    const { workspaceId, wallet, actor } = owned
    const other = await openOwned(ctx)
    const own = await addWalletOwner(ctx, owned.actor.id)
    for (const place of [
      { workspaceId, mode: 'live' },
      { workspaceId: other.workspaceId, mode: 'test' },
    ] as const) {
      const asked = openOwnerChange(ctx, { ...place, address: wallet.address, ...add(own), actor })
      await assert.rejects(asked, { status: 404, code: 'wallet_not_found' })
    }
    await expectNothingStored(owned)
    await changeOwners(ctx, owned, add(own))
    for (let owners = 2; owners < OWNERS_MAX; owners += 1) {
      await changeOwners(ctx, owned, add(await addWalletOwner(ctx, owned.actor.id)))
    }
    const surplus = await addWalletOwner(ctx, owned.actor.id)
    const limit = { status: 409, code: 'owner_limit_reached', details: { owners_max: OWNERS_MAX } }
    await assert.rejects(prepareChange(ctx, owned, add(surplus)), limit)
  })

  test('a signature that was not made on the signer page, or by another passkey, or over other bytes, is rejected', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const { requestId, payload } = await prepareChange(ctx, owned, add(second))
    const onSignInPage = usedOn(owned.owner, ctx.relyingParty)
    for (const signer of [onSignInPage, second]) {
      await assert.rejects(submit(ctx, owned, { requestId, assertion: signer.assert(payload) }), INVALID)
    }
    const other = owned.owner.assert(Buffer.from(`${Buffer.from(payload).toString()} `))
    await assert.rejects(submit(ctx, owned, { requestId, assertion: other }), STALE)
    const stranger = await openOwned(ctx)
    const notFound = { status: 404, code: 'owner_request_not_found' }
    const signed = { requestId, assertion: owned.owner.assert(payload) }
    await assert.rejects(submit(ctx, stranger, signed), notFound)
    await assert.rejects(submit(ctx, owned, { ...signed, requestId: 'owr_x' }), notFound)
    await expectOwners(owned, [owned.owner])
  })

  test('after the response was lost, the change is found by reading the owners back, and is attributed to its submitter', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const lost = enclave.proxy.loseChange()
    await assert.rejects(changeOwners(ctx, owned, add(second)), EnclaveUnavailable)
    await assert.rejects(changeOwners(ctx, owned, add(await addWalletOwner(ctx, owned.actor.id))), UNDER_WAY)
    const kept = removeUnusedWalletPasskey(ctx, { session: sessionOf(owned), credentialId: second.credentialId })
    await assert.rejects(kept, { status: 409, code: 'passkey_owns_wallets' })
    assert.equal(await lost.arrive(), 200)
    await findChangeMade(ctx, owned, add(second))
    await expectOwners(owned, [owned.owner, second])
  })

  test('after the response was lost, the same signature can be submitted again', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const { requestId, payload } = await prepareChange(ctx, owned, add(second))
    const assertion = owned.owner.assert(payload)
    const lost = enclave.proxy.loseChange()
    await assert.rejects(submit(ctx, owned, { requestId, assertion }), EnclaveUnavailable)
    assert.deepEqual((await prepareChange(ctx, owned, add(second))).requestId, requestId)
    const done = await submit(ctx, owned, { requestId, assertion })
    assert.deepEqual(await submit(ctx, owned, { requestId, assertion }), done)
    await expectOwners(owned, [owned.owner, second])
    // The first request can still arrive, so a change that it would undo has to wait.
    await assert.rejects(changeOwners(ctx, owned, remove(second)), UNDER_WAY)
    assert.equal(await lost.arrive(), 200)
    await enclave.moveClock(FENCE_MS)
    try {
      await changeOwners(later(ctx, FENCE_MS), owned, remove(second))
      assert.equal(await lost.arrive(), 401)
    } finally {
      await enclave.moveClock(0)
    }
    await expectOwners(owned, [owned.owner])
  })

  test('after a crash between the enclave and our record, the change is recorded at the next attempt', async () => {
    const { owned, second } = await openTwoOwners()
    await crash('wallet.owner_removed', async () => {
      await assert.rejects(changeOwners(ctx, owned, remove(second)), /broken/)
    })
    assert.equal((await readOwners(ctx, owned)).length, 2)
    await findChangeMade(ctx, owned, remove(second))
    await expectOwners(owned, [owned.owner])
  })

  test('after a crash, another change records the first one and follows it', async () => {
    const { owned, second } = await openTwoOwners()
    await crash('wallet.owner_removed', async () => {
      await assert.rejects(changeOwners(ctx, owned, remove(second)), /broken/)
    })
    const third = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, owned, add(third))
    await expectOwners(owned, [owned.owner, third])
  })

  test('a request that the enclave rejected is not mistaken for a later one that made the same change', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    await enclave.moveClock(FENCE_MS)
    try {
      await assert.rejects(changeOwners(ctx, owned, add(second)), { name: 'EnclaveRefused' })
    } finally {
      await enclave.moveClock(0)
    }
    const then = later(ctx, FENCE_MS)
    await changeOwners(then, owned, add(second))
    await expectOwners(owned, [owned.owner, second])
    await changeOwners(then, owned, remove(second))
    await expectOwners(owned, [owned.owner])
    const log = (await readAudit(ctx.db, owned.workspaceId)).filter(({ action }) => action === 'wallet.owner_added')
    assert.equal(log.length, 1)
    await removeUnusedWalletPasskey(ctx, { session: sessionOf(owned), credentialId: second.credentialId })
  })

  test('of two requests for the same change, the second signature changes nothing more', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const first = await prepareChange(ctx, owned, add(second))
    const then = later(ctx, SIGNING_REQUEST_MS / 2 + 1_000)
    const other = await prepareChange(then, owned, add(second))
    assert.notEqual(first.requestId, other.requestId)
    for (const { requestId, payload } of [first, other]) {
      await submit(then, owned, { requestId, assertion: owned.owner.assert(payload) })
    }
    await expectOwners(owned, [owned.owner, second])
  })

  test('a change to a grant and a change of the owners wait for each other', async () => {
    const owned = await openOwned(ctx)
    const { id: grantId } = await openPending(ctx, owned)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const prepared = await prepareChange(ctx, owned, add(second))
    const lost = enclave.proxy.loseChange()
    await assert.rejects(signChange(ctx, owned, { grantId, change: 'activate' }), EnclaveUnavailable)
    const signed = { requestId: prepared.requestId, assertion: owned.owner.assert(prepared.payload) }
    await assert.rejects(submit(ctx, owned, signed), UNDER_WAY)
    assert.equal(await lost.arrive(), 200)
    await expectOwners(owned, [owned.owner])
  })

  test('a passkey that was deleted after the request was prepared does not become an owner', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const { requestId, payload } = await prepareChange(ctx, owned, add(second))
    await removeUnusedWalletPasskey(ctx, { session: sessionOf(owned), credentialId: second.credentialId })
    const signed = { requestId, assertion: owned.owner.assert(payload) }
    await assert.rejects(submit(ctx, owned, signed), { status: 404, code: 'passkey_not_found' })
    await expectOwners(owned, [owned.owner])
  })

  test('a person who was removed from the workspace does not become an owner by an earlier request', async () => {
    const owned = await openOwned(ctx)
    const { userId } = await signUpPerson(ctx, 'Grace')
    await ctx.db.write(insertMember(owned.workspaceId, { userId, role: 'admin', createdAt: ctx.clock.now() }))
    const second = await addWalletOwner(ctx, userId)
    const asked = { ...owned, actor: { kind: 'user', id: userId } } as const
    const { requestId, payload } = await prepareChange(ctx, asked, add(second))
    await readRows(ctx.db, 'delete from members where workspace_id = $1 and user_id = $2', [owned.workspaceId, userId])
    const signed = { requestId, assertion: owned.owner.assert(payload) }
    await assert.rejects(submit(ctx, owned, signed), { status: 404, code: 'passkey_not_found' })
    await expectOwners(owned, [owned.owner])
  })

  test('an enclave that answers and changes nothing is not believed', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const before = (await ctx.enclave.readOwners(owned.wallet)) ?? []
    const restore = enclave.proxy.rewrite(/^\/v1\/key_quorums\//, (answer) => ({
      ...answer,
      authorization_keys: before.map((public_key) => ({ public_key, display_name: null })),
    }))
    try {
      await assert.rejects(changeOwners(ctx, owned, add(second)), { status: 500, code: 'enclave_record_differs' })
    } finally {
      restore()
    }
    assert.deepEqual(await readOwners(ctx, owned), [owned.owner.credentialId])
    await findChangeMade(ctx, owned, add(second))
    await expectOwners(owned, [owned.owner, second])
  })

  test('another member does not get the request that adds somebody’s passkey', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    await prepareChange(ctx, owned, add(second))
    const workspace = await ctx.db.read(lockWorkspace(owned.workspaceId))
    assert.ok(workspace !== null)
    const { userId } = await seedOwner(ctx, workspace, 'admin')
    const other: Owned = { ...owned, actor: { kind: 'user', id: userId } }
    await assert.rejects(prepareChange(ctx, other, add(second)), { status: 404, code: 'passkey_not_found' })
  })

  test('without a signer page nothing can be changed', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const asked = prepareChange({ ...ctx, signer: null }, owned, add(second))
    await assert.rejects(asked, { status: 409, code: 'signer_not_configured' })
  })

  test('requests are deleted 30 days after they expired, except changes whose outcome was never recorded', async () => {
    const { owned, second } = await openTwoOwners()
    await crash('wallet.owner_removed', async () => {
      await assert.rejects(changeOwners(ctx, owned, remove(second)), /broken/)
    })
    const then = later(ctx, SIGNING_REQUEST_MS + OWNER_REQUEST_RETENTION_MS)
    while ((await cleanUpOnce(then, 'ownerRequests')) > 0);
    const rows = await readRows(ctx.db, 'select kind from owner_requests where workspace_id = $1', [owned.workspaceId])
    assert.deepEqual(rows, [{ kind: 'remove_owner' }])
    await findChangeMade(then, owned, remove(second))
  })

  async function openTwoOwners(): Promise<{ owned: Owned; second: Owned['owner'] }> {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, owned, add(second))
    return { owned, second }
  }

  /** Checks that the service and the enclave both store these owners. */
  async function expectOwners(owned: Owned, owners: readonly Owned['owner'][]): Promise<void> {
    assert.deepEqual(
      await readOwners(ctx, owned),
      owners.map(({ credentialId }) => credentialId),
    )
    const members = (await ctx.enclave.readOwners(owned.wallet)) ?? []
    assert.deepEqual(members.toSorted(), owners.map(({ publicKeySpki }) => publicKeySpki).toSorted())
  }

  async function expectNothingStored({ workspaceId }: Owned): Promise<void> {
    assert.deepEqual(await readRows(ctx.db, 'select id from owner_requests where workspace_id = $1', [workspaceId]), [])
  }

  /** Runs `work` while an action's audit entry cannot be stored, as if the service crashed before storing the entry. */
  async function crash(action: string, work: () => Promise<void>): Promise<void> {
    await readRows(ctx.db, `alter table audit_entries add constraint broken check (action <> '${action}') not valid`)
    try {
      await work()
    } finally {
      await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
    }
  }

  function sessionOf({ actor }: Owned): { userId: string; verifiedAt: Date } {
    return { userId: actor.id, ...justProved(ctx) }
  }
})

function add({ credentialId }: { credentialId: string }) {
  return { kind: 'add_owner', credentialId } as const
}

function remove({ credentialId }: { credentialId: string }) {
  return { kind: 'remove_owner', credentialId } as const
}
