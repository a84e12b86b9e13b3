import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  openActive,
  openNext,
  openOwned,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeOwners,
  findChangeMade,
  prepareChange,
  readOwners,
  resume,
  submit,
  withdrawOne,
} from '../../../../test/support/context/owner-fixture.ts'
import { addWalletOwner } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import type { Context } from '../context.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'

const UNDER_WAY = { status: 409, code: 'signer_change_under_way' } as const

/**
 * Until the service has read a change of owners back from the enclave, it remembers this change, and starts no other
 * one (decision 0022).
 */
describe('the owners of a wallet, while a signed change is not yet certain', () => {
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

  test('a change that the enclave’s reads show only later is recorded then, although it was asked for again meanwhile', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const catchUp = await delayReads(owned)
    try {
      const { requestId, payload } = await prepareChange(ctx, owned, add(second))
      const signed = submit(ctx, owned, { requestId, assertion: owned.owner.assert(payload) })
      await assert.rejects(signed, { status: 500, code: 'enclave_record_differs' })
      assert.equal((await prepareChange(ctx, owned, add(second))).requestId, requestId)
      const third = await addWalletOwner(ctx, owned.actor.id)
      await assert.rejects(prepareChange(ctx, owned, add(third)), UNDER_WAY)
    } finally {
      catchUp()
    }
    await findChangeMade(ctx, owned, add(second))
    await expectOwners(owned, [owned.owner, second])
  })

  test('after a crash, a read that is outdated does not make the change forgotten', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const catchUp = await delayReadsAfter(owned, async () => {
      await crash('wallet.owner_added', async () => {
        await assert.rejects(changeOwners(ctx, owned, add(second)), /broken/)
      })
    })
    try {
      await prepareChange(ctx, owned, add(second))
    } finally {
      catchUp()
    }
    await findChangeMade(ctx, owned, add(second))
    await expectOwners(owned, [owned.owner, second])
  })

  test('a passkey signs nothing while its removal may take effect, or if the enclave has made it', async () => {
    for (const what of ['resume', 'activate', 'withdraw'] as const) {
      const owned = await openOwned(ctx)
      const second = await addWalletOwner(ctx, owned.actor.id)
      const wanted = { credentialId: second.credentialId }
      await changeOwners(ctx, owned, { kind: 'add_owner', ...wanted })
      const { workspaceId, actor } = owned
      const { id: grantId } = await openActive(ctx, owned)
      const next = await openNext(ctx, owned, { id: grantId })
      await suspendGrant(ctx, { workspaceId, grantId, actor })
      const bySecond = { ...owned, owner: second }
      const use = async (at: Context): Promise<unknown> => {
        if (what === 'resume') return await resume(at, bySecond, { grantId })
        if (what === 'withdraw') return await withdrawOne(at, bySecond)
        return await signChange(at, bySecond, { grantId: next.id, change: 'activate' })
      }
      const lost = enclave.proxy.loseChange()
      const removal = changeOwners(ctx, owned, { kind: 'remove_owner', ...wanted })
      await assert.rejects(removal, { name: 'EnclaveUnavailable' })
      await assert.rejects(use(ctx), UNDER_WAY)
      await lost.arrive()
      const then = later(ctx, SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS)
      await assert.rejects(use(then), { code: 'signature_invalid' }, what)
      assert.deepEqual(await readOwners(ctx, owned), [owned.owner.credentialId])
    }
  })

  test('of two submissions of one signature at once, the first to end does not let another change start', async () => {
    const owned = await openOwned(ctx)
    const second = await addWalletOwner(ctx, owned.actor.id)
    const { requestId, payload } = await prepareChange(ctx, owned, add(second))
    const assertion = owned.owner.assert(payload)
    const holds = [1, 2].map(() => enclave.proxy.hold('request', /^\/v1\/key_quorums\//, 'PATCH'))
    const first = Promise.allSettled([submit(ctx, owned, { requestId, assertion })])
    await holds[0]?.held
    const later = submit(given.openAnother(), owned, { requestId, assertion })
    await holds[1]?.held
    await holds[0]?.release()
    await first
    await assert.rejects(changeOwners(ctx, owned, { ...add(second), kind: 'remove_owner' }), UNDER_WAY)
    await holds[1]?.release()
    assert.ok((await later).doneAt !== null)
    await expectOwners(owned, [owned.owner, second])
  })

  /**
   * From now on, every read from the enclave returns the present owners, even after a change, until the returned
   * function is called.
   */
  function delayReads(owned: Owned): Promise<() => void> {
    return delayReadsAfter(owned, async () => undefined)
  }

  /**
   * Does `work`. Afterwards, reads from the enclave still return the owners from before `work`, until the returned
   * function is called.
   */
  async function delayReadsAfter({ wallet }: Owned, work: () => Promise<void>): Promise<() => void> {
    const before = (await ctx.enclave.readOwners(wallet)) ?? []
    await work()
    return enclave.proxy.rewrite(/^\/v1\/key_quorums\//, (answer) => ({
      ...answer,
      authorization_keys: before.map((public_key) => ({ public_key, display_name: null })),
    }))
  }

  /** Checks the owners in our record and in the enclave. */
  async function expectOwners(owned: Owned, owners: readonly Owned['owner'][]): Promise<void> {
    assert.deepEqual(
      await readOwners(ctx, owned),
      owners.map(({ credentialId }) => credentialId),
    )
    const members = (await ctx.enclave.readOwners(owned.wallet)) ?? []
    assert.deepEqual(members.toSorted(), owners.map(({ publicKeySpki }) => publicKeySpki).toSorted())
  }

  /**
   * Runs `work` while the audit entry of an action cannot be stored, as if the service crashed before recording the
   * action.
   */
  async function crash(action: string, work: () => Promise<void>): Promise<void> {
    await readRows(ctx.db, `alter table audit_entries add constraint broken check (action <> '${action}') not valid`)
    try {
      await work()
    } finally {
      await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
    }
  }
})

function add({ credentialId }: { credentialId: string }) {
  return { kind: 'add_owner', credentialId } as const
}
