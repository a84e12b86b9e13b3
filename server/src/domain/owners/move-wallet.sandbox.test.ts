import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listAuditActions, readAudit } from '../../../../test/support/context/audit.ts'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  listGrantEvents,
  openOwned,
  openPending,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeOwners,
  createLegacyWallet,
  prepareMove,
  readOwners,
  submit,
  usedOn,
  type LegacyWallet,
} from '../../../../test/support/context/owner-fixture.ts'
import { addWalletOwner, justProved } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { EnclaveUnavailable } from '../../enclave/errors.ts'
import type { Context } from '../context.ts'
import { enforceRateLimit } from '../enforce-rate-limit.ts'
import { RECENT_PROOF_MS } from '../require-recent-proof.ts'
import { removeUnusedWalletPasskey } from '../wallets/remove-unused-wallet-passkey.ts'
import { slotSealContext } from '../wallets/slot-seal-context.ts'
import { WALLET_SLOTS_MAX } from '../../values/wallet-slots.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import { getWalletRecord } from './get-wallet-record.ts'
import { openOwnerChange } from './open-owner-change.ts'
import { openWalletMove } from './open-wallet-move.ts'

const INVALID = { status: 400, code: 'signature_invalid' } as const
const MOVED = { status: 409, code: 'wallet_moved' } as const
const CREATION_PATHS = ['/v1/policies', '/v1/key_quorums']

describe('a wallet that a sign-in passkey owns', () => {
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

  test('is moved to a wallet passkey by one signature, which ends its grants, and then works as any other', async () => {
    const { owned, legacy, to } = await openLegacy()
    const withAllSlots = { ...ctx, walletSlots: WALLET_SLOTS_MAX }
    const { requestId, challenge, rpId } = await prepareMove(withAllSlots, owned, { ...legacy, to })
    assert.equal(rpId, ctx.relyingParty.id)
    await submit(ctx, owned, { requestId, assertion: legacy.signIn.assert(challenge) })

    const moved = await expectMoved(owned, legacy, to, WALLET_SLOTS_MAX)
    const grants = await readRows(ctx.db, 'select id, status from grants where wallet_address = $1', [
      moved.wallet.address,
    ])
    assert.deepEqual(
      grants.map(({ status }) => status),
      ['revoked'],
    )
    assert.deepEqual(await listGrantEvents(ctx, owned), [['permission.revoked', grants[0]?.['id']]])
    assert.deepEqual((await listAuditActions(ctx.db, owned.accountId)).slice(-2).toSorted(), [
      'grant.revoked',
      'wallet.moved',
    ])

    const { id: grantId } = await openPending(ctx, moved)
    assert.equal((await signChange(ctx, moved, { grantId, change: 'activate' })).status, 'active')
    const second = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, moved, { kind: 'add_owner', credentialId: second.credentialId })
    const { signers } = await ctx.enclave.readWallet(moved.wallet.enclaveWalletId)
    assert.equal(signers.length, WALLET_SLOTS_MAX)
    await expectMoveRejected(owned, legacy, to, MOVED)
  })

  test('has slots whose keys are those of its signers', async () => {
    const { owned, legacy, to } = await openLegacy()
    await move(owned, legacy, to)
    const rows = await readRows(
      ctx.db,
      'select slot, signer_private_key_sealed from wallet_slots where wallet_address = $1 order by slot',
      [legacy.wallet.address],
    )
    assert.deepEqual(
      rows.map(({ slot }) => slot),
      Array.from({ length: ctx.walletSlots }, (_, index) => index + 1),
    )
    for (const { slot, signer_private_key_sealed: sealed } of rows) {
      const place = { accountId: owned.accountId, mode: owned.mode, walletAddress: legacy.wallet.address }
      assert.ok(ctx.sealer.open(sealed as Buffer, slotSealContext(place, Number(slot))).length > 100)
    }
  })

  test('is not moved by any other signature', async () => {
    const { owned, legacy, to } = await openLegacy()
    const { requestId, challenge } = await prepareMove(ctx, owned, { ...legacy, to })
    assert.ok(ctx.signer !== null)
    for (const signer of [to, usedOn(legacy.signIn, ctx.signer), usedOn(to, ctx.relyingParty)]) {
      await assert.rejects(submit(ctx, owned, { requestId, assertion: signer.assert(challenge) }), INVALID)
    }
    const stale = submit(ctx, owned, { requestId, assertion: legacy.signIn.assert(Buffer.from('other')) })
    await assert.rejects(stale, { status: 409, code: 'signing_request_stale' })
    assert.equal((await findNow(owned, legacy))?.signInOwner?.credentialId, legacy.signIn.credentialId)
  })

  test('has no record and no owners to change before it is moved', async () => {
    const { owned, legacy, to } = await openLegacy()
    const { accountId, mode, actor } = owned
    const place = { accountId, mode, address: legacy.wallet.address }
    const refused = { status: 409, code: 'wallet_not_moved' } as const
    await assert.rejects(getWalletRecord(ctx, place), refused)
    const asked = openOwnerChange(ctx, { ...place, kind: 'add_owner', credentialId: to.credentialId, actor })
    await assert.rejects(asked, refused)
  })

  test('is moved only to a wallet passkey of the caller, who has just proved to be there', async () => {
    const { owned, legacy, to } = await openLegacy()
    const other = await openOwned(ctx)
    const requests = enclave.proxy.requests.length
    const foreign = await addWalletOwner(ctx, other.actor.id)
    await expectMoveRejected(owned, legacy, foreign, { status: 404, code: 'passkey_not_found' })
    await expectMoveRejected(other, legacy, foreign, { status: 404, code: 'wallet_not_found' })
    const { accountId, mode, actor } = owned
    const asked = { accountId, mode, address: legacy.wallet.address, credentialId: to.credentialId }
    const proved = { kind: 'user', id: actor.id, ...justProved(ctx) } as const
    await assert.rejects(openWalletMove(later(ctx, RECENT_PROOF_MS), { ...asked, actor: proved }), {
      status: 403,
      code: 'verification_required',
    })
    await assert.rejects(openWalletMove({ ...ctx, signer: null }, { ...asked, actor: proved }), {
      code: 'signer_not_configured',
    })
    const created = enclave.proxy.requests.slice(requests).filter(isOfMove(legacy))
    assert.deepEqual(created, [])
    assert.deepEqual(await readRows(ctx.db, 'select id from owner_requests where account_id = $1', [accountId]), [])
  })

  test('uses the same slots when the move is prepared again', async () => {
    const { owned, legacy, to } = await openLegacy()
    await prepareMove(ctx, owned, { ...legacy, to })
    const requests = enclave.proxy.requests.length
    const { requestId, challenge } = await prepareMove(ctx, owned, { ...legacy, to })
    assert.deepEqual(enclave.proxy.requests.slice(requests).filter(isCreation), [])
    await submit(ctx, owned, { requestId, assertion: legacy.signIn.assert(challenge) })
    await expectMoved(owned, legacy, to)
  })

  test('is prepared with new slots 10 times an hour at most in each workspace', async () => {
    const { owned, legacy, to } = await openLegacy()
    for (let count = 0; count < 9; count += 1) {
      await enforceRateLimit(ctx, { subject: owned.accountId, bucket: 'wallet_move' })
    }
    await prepareMove(ctx, owned, { ...legacy, to })
    await prepareMove(ctx, owned, { ...legacy, to })
    const other = await addWalletOwner(ctx, owned.actor.id)
    const requests = enclave.proxy.requests.length
    await expectMoveRejected(owned, legacy, other, { status: 429, code: 'rate_limit_exceeded' })
    assert.deepEqual(enclave.proxy.requests.slice(requests).filter(isCreation), [])
  })

  test('is not moved for a person who was removed from the workspace', async () => {
    const { owned, legacy, to } = await openLegacy()
    const { requestId, challenge } = await prepareMove(ctx, owned, { ...legacy, to })
    await readRows(ctx.db, 'delete from members where account_id = $1', [owned.accountId])
    const submitted = submit(ctx, owned, { requestId, assertion: legacy.signIn.assert(challenge) })
    await assert.rejects(submitted, { status: 404, code: 'passkey_not_found' })
    assert.equal((await findNow(owned, legacy))?.signInOwner?.credentialId, legacy.signIn.credentialId)
  })

  test('is found to be moved by reading it back after the response was lost', async () => {
    const { owned, legacy, to } = await openLegacy()
    const lost = enclave.proxy.loseChange()
    await assert.rejects(move(owned, legacy, to), EnclaveUnavailable)
    const other = await addWalletOwner(ctx, owned.actor.id)
    const requests = enclave.proxy.requests.length
    await expectMoveRejected(owned, legacy, other, { status: 409, code: 'signer_change_under_way' })
    assert.deepEqual(enclave.proxy.requests.slice(requests).filter(isCreation), [], 'nothing is created in vain')
    const kept = removeUnusedWalletPasskey(ctx, {
      session: { userId: owned.actor.id, ...justProved(ctx) },
      credentialId: to.credentialId,
    })
    await assert.rejects(kept, { status: 409, code: 'passkey_owns_wallets' })
    assert.equal(await lost.arrive(), 200)
    await expectFoundMoved(owned, legacy, to)
  })

  test('is found to be moved once the enclave’s reads show it, although the move was asked for again meanwhile', async () => {
    const { owned, legacy, to } = await openLegacy()
    const { signers } = await ctx.enclave.readWallet(legacy.wallet.enclaveWalletId)
    const catchUp = enclave.proxy.rewrite(/^\/v1\/wallets\//, (wallet) => ({
      ...wallet,
      owner_id: legacy.wallet.ownerQuorumId,
      additional_signers: signers.map((one) => ({ signer_id: one.signerId, override_policy_ids: one.policyIds })),
    }))
    try {
      await assert.rejects(move(owned, legacy, to), { status: 500, code: 'enclave_record_differs' })
      await prepareMove(ctx, owned, { ...legacy, to })
    } finally {
      catchUp()
    }
    await expectFoundMoved(owned, legacy, to)
  })

  test('is recorded once after the same signature was submitted again', async () => {
    const { owned, legacy, to } = await openLegacy()
    const { requestId, challenge } = await prepareMove(ctx, owned, { ...legacy, to })
    const assertion = legacy.signIn.assert(challenge)
    const lost = enclave.proxy.loseChange()
    await assert.rejects(submit(ctx, owned, { requestId, assertion }), EnclaveUnavailable)
    const outcomes = await Promise.allSettled([
      submit(ctx, owned, { requestId, assertion }),
      submit(given.openAnother(), owned, { requestId, assertion }),
    ])
    assert.ok(outcomes.some(({ status }) => status === 'fulfilled'))
    await lost.arrive()
    await expectMoved(owned, legacy, to)
    const actions = await listAuditActions(ctx.db, owned.accountId)
    assert.equal(actions.filter((action) => action === 'wallet.moved').length, 1)
  })

  test('is changed as any other after a first request to move it was rejected', async () => {
    const { owned, legacy, to } = await openLegacy()
    await enclave.moveClock(10 * 60_000)
    try {
      await assert.rejects(move(owned, legacy, to), { name: 'EnclaveRefused' })
    } finally {
      await enclave.moveClock(0)
    }
    await move(owned, legacy, to)
    const moved = await expectMoved(owned, legacy, to)
    const second = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, moved, { kind: 'add_owner', credentialId: second.credentialId })
    assert.equal((await readOwners(ctx, moved)).length, 2)
  })

  test('is found to be moved after a crash between the enclave and our record', async () => {
    const { owned, legacy, to } = await openLegacy()
    await readRows(ctx.db, `alter table audit_entries add constraint broken check (action <> 'wallet.moved') not valid`)
    try {
      await assert.rejects(move(owned, legacy, to), /broken/)
    } finally {
      await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
    }
    assert.ok((await findNow(owned, legacy))?.signInOwner)
    await expectFoundMoved(owned, legacy, to)
    assert.equal((await readAudit(ctx.db, owned.accountId)).at(-1)?.['actor_id'], owned.actor.id)
  })

  async function openLegacy(): Promise<{ owned: Owned; legacy: LegacyWallet; to: Owned['owner'] }> {
    const owned = await openOwned(ctx)
    return { owned, legacy: await createLegacyWallet(ctx, owned), to: await addWalletOwner(ctx, owned.actor.id) }
  }

  async function move(owned: Owned, legacy: LegacyWallet, to: Owned['owner']): Promise<void> {
    const { requestId, challenge } = await prepareMove(ctx, owned, { ...legacy, to })
    await submit(ctx, owned, { requestId, assertion: legacy.signIn.assert(challenge) })
  }

  /**
   * Checks that the service and the enclave have recorded the new owner. Returns the workspace with the moved wallet
   * and its new owner.
   */
  async function expectMoved(
    owned: Owned,
    legacy: LegacyWallet,
    to: Owned['owner'],
    slots = ctx.walletSlots,
  ): Promise<Owned> {
    const wallet = await findNow(owned, legacy)
    assert.ok(wallet !== null && wallet.signInOwner === null)
    assert.deepEqual(await readOwners(ctx, { wallet }), [to.credentialId])
    assert.deepEqual(await ctx.enclave.readQuorum(wallet.ownerQuorumId), [to.publicKeySpki])
    const { ownerQuorumId, signers } = await ctx.enclave.readWallet(wallet.enclaveWalletId)
    assert.equal(ownerQuorumId, wallet.ownerQuorumId)
    assert.equal(signers.length, slots)
    return { ...owned, wallet, owner: to }
  }

  async function expectFoundMoved(owned: Owned, legacy: LegacyWallet, to: Owned['owner']): Promise<void> {
    const { accountId, mode, actor } = owned
    const mover = { kind: 'user', id: actor.id, ...justProved(ctx) } as const
    const asked = { accountId, mode, address: legacy.wallet.address, credentialId: to.credentialId, actor: mover }
    assert.equal(await openWalletMove(ctx, asked), null)
    await expectMoved(owned, legacy, to)
  }

  async function expectMoveRejected(
    owned: Owned,
    legacy: LegacyWallet,
    to: Owned['owner'],
    expected: object,
  ): Promise<void> {
    await assert.rejects(prepareMove(ctx, owned, { ...legacy, to }), expected)
  }

  function findNow({ accountId, mode }: Owned, { wallet }: LegacyWallet) {
    return ctx.db.runRelaxed(findWallet(accountId, mode, wallet.address))
  }
})

function isCreation({ method, path }: { method: string; path: string }): boolean {
  return method === 'POST' && CREATION_PATHS.includes(path)
}

/** Whether a request to the enclave changes this wallet. */
function isOfMove({ wallet }: LegacyWallet) {
  return ({ method, path }: { method: string; path: string }): boolean =>
    method === 'PATCH' && path.endsWith(wallet.enclaveWalletId)
}
