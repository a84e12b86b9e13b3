import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  changeUnsigned,
  getSlot,
  listEnforced,
  makeTerms,
  openActive,
  openNext,
  openOwned,
  openPending,
  readFates,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { signInPerson, signUpPerson } from '../../../../test/support/context/people.ts'
import { agent } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { SlotRules } from '../../enclave/enclave.ts'
import { createAgent } from '../agents/create-agent.ts'
import type { Context } from '../context.ts'
import { listSlots } from '../wallets/slots-store.ts'
import { rulesOf } from './grant-rules.ts'
import type { Grant, GrantChange } from './grant.ts'
import { issueSigningRequest } from './issue-signing-request.ts'
import { openGrant } from './open-grant.ts'
import { submitSignature } from './submit-signature.ts'

/** More than the connections of a test's database, so some grants wait for a connection. */
const SLOTS = 10
const STALE = { status: 409, code: 'signing_request_stale' } as const
const NO_SIGNATURE = { status: 400, code: 'signature_invalid' } as const

describe('a grant is the content of a slot', () => {
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

  test('what the owner signs contains the complete terms, the policy of the slot, and nothing else', async () => {
    const owned = await openOwned(ctx)
    const grant = await openPending(ctx, owned, makeTerms(7))
    const payload = await ask(owned, grant.id, 'activate')
    const { body, url } = JSON.parse(Buffer.from(payload).toString()) as { body: { rules: unknown }; url: string }
    const { enclaveRulesId } = await getSlot(ctx, owned, grant)
    assert.ok(url.endsWith(`/v1/policies/${enclaveRulesId}`))
    assert.deepEqual(body, { rules: rulesOf(ctx, grant) })
  })

  test("a wallet's signers are the same before and after its grants", async () => {
    const owned = await openOwned(ctx)
    const slots = await ctx.db.read(listSlots(owned.wallet))
    assert.equal(slots.length, ctx.walletSlots)
    const grant = await openActive(ctx, owned)
    await signChange(ctx, owned, { grantId: grant.id, change: 'revoke' })
    const slot = await getSlot(ctx, owned, grant)
    const { differences } = await ctx.enclave.compareRecord({ wallet: owned.wallet, slots, slot, rules: [] })
    assert.deepEqual(differences, [])
  })

  test('a replacement with the same rules at the enclave needs a signature too', async () => {
    const owned = await openOwned(ctx)
    const old = await openActive(ctx, owned, makeTerms(1))
    const more = { ...makeTerms(1), dailyCapMicro: old.maxPerTxMicro }
    const next = await openNext(ctx, owned, old, more)
    await ask(owned, next.id, 'activate')
    assert.deepEqual(await readFates(ctx, owned, [old, next]), [
      ['active', null],
      ['pending', null],
    ])
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.deepEqual(await listEnforced(ctx, owned), [next.id])
  })

  test('agents that are granted at once get slots of their own, as many as the wallet has', async () => {
    const owned = await openOwned({ ...ctx, walletSlots: SLOTS })
    const { workspaceId, mode, wallet, actor } = owned
    const open = async (number: number): Promise<Grant> => {
      const agentId = agent(`agent ${number}`)
      await createAgent(ctx, { workspaceId, mode, id: agentId, actor })
      return await openGrant(ctx, { workspaceId, mode, agentId, wallet: wallet.address, ...makeTerms(), actor })
    }
    const grants = await Promise.all(Array.from({ length: SLOTS }, (_, number) => open(number)))
    assert.equal(new Set(grants.map(({ slot }) => slot)).size, SLOTS)
    await assert.rejects(open(SLOTS), {
      status: 409,
      code: 'grant_limit_reached',
      details: { grants_max: SLOTS },
    })
    const [other, , , , , , , freed] = grants
    assert.ok(freed !== undefined && other !== undefined)
    // The slot that was freed first is used first.
    await changeUnsigned(ctx, owned, { grantId: freed.id, change: 'revoke' })
    await changeUnsigned(later(ctx, 1_000), owned, { grantId: other.id, change: 'revoke' })
    const again = await openGrant(ctx, {
      ...{ workspaceId, mode, actor, wallet: wallet.address, agentId: agent(`agent ${SLOTS}`) },
      ...makeTerms(),
    })
    assert.equal(again.slot, freed.slot)
  })

  test('a wallet keeps the number of slots that it was created with', async () => {
    const owned = await openOwned({ ...ctx, walletSlots: 1 })
    const { workspaceId, mode, wallet, actor } = owned
    await openPending(ctx, owned)
    await createAgent(ctx, { workspaceId, mode, id: agent('second'), actor })
    const second = { workspaceId, mode, agentId: agent('second'), wallet: wallet.address, ...makeTerms(), actor }
    await assert.rejects(openGrant(ctx, second), {
      status: 409,
      code: 'grant_limit_reached',
      details: { grants_max: 1 },
    })
  })

  test('a slot that was never used is preferred to one that was freed', async () => {
    const owned = await openOwned(ctx)
    const first = await openActive(ctx, owned)
    await signChange(ctx, owned, { grantId: first.id, change: 'revoke' })
    assert.deepEqual([first.slot, (await openPending(ctx, owned)).slot], [1, 2])
  })

  test('only a wallet passkey that owns the wallet signs: not the owner’s sign-in passkey, and no other wallet’s', async () => {
    const [owned, other] = [await openOwned(ctx), await openOwned(ctx)]
    const { id: grantId } = await openPending(ctx, owned)
    const payload = await ask(owned, grantId, 'activate')
    const person = await signUpPerson(ctx)
    for (const passkey of [person.passkey, other.owner]) {
      await assert.rejects(submit(owned, grantId, payload, passkey), NO_SIGNATURE)
    }
    assert.deepEqual(await listEnforced(ctx, owned), [])
    // The sign-in passkey itself is valid: the person can sign in with it.
    await signInPerson(ctx, person)
  })

  test('without a signer page nothing can be signed', async () => {
    const owned = await openOwned(ctx)
    const { id: grantId } = await openPending(ctx, owned)
    const { workspaceId, actor } = owned
    const blind = { ...ctx, signer: null }
    const asked = { workspaceId, grantId, change: 'activate', actor } as const
    await assert.rejects(issueSigningRequest(blind, asked), { code: 'signer_not_configured' })
  })

  describe('a policy that was changed behind our back', () => {
    test('makes a request stale that was prepared before', async () => {
      const owned = await openOwned(ctx)
      const grant = await openPending(ctx, owned)
      const payload = await ask(owned, grant.id, 'activate')
      await signDirectly(owned, grant, otherRules(grant))
      await assert.rejects(submit(owned, grant.id, payload), STALE)
      assert.deepEqual(await readFates(ctx, owned, [grant]), [['pending', null]])
    })

    test('is shown to the owner as what the new rules replace', async () => {
      const owned = await openOwned(ctx)
      const grant = await openPending(ctx, owned)
      await signDirectly(owned, grant, otherRules(grant))
      const { workspaceId, actor } = owned
      const lines: unknown[] = []
      const warn = (members: object) => void lines.push(members)
      const logged = { ...ctx, logger: Object.assign(Object.create(ctx.logger), { warn }) }
      const { request } = await issueSigningRequest(logged, {
        workspaceId,
        grantId: grant.id,
        change: 'activate',
        actor,
      })
      assert.deepEqual(
        request?.before?.map(({ name }) => name),
        ['something else 100'],
      )
      assert.deepEqual(lines, [{ grant: grant.id, slot: grant.slot, rules: ['something else 100'] }])
      assert.equal((await signChange(ctx, owned, { grantId: grant.id, change: 'activate' })).status, 'active')
      assert.deepEqual(await listEnforced(ctx, owned), [grant.id])
    })

    test('and emptied, ends its grant as soon as somebody revokes it, without a signature', async () => {
      const owned = await openOwned(ctx)
      const grant = await openActive(ctx, owned)
      await signDirectly(owned, grant, [])
      assert.equal((await changeUnsigned(ctx, owned, { grantId: grant.id, change: 'revoke' })).status, 'revoked')
    })

    test('never makes a pending grant active with terms other than its own', async () => {
      const owned = await openOwned(ctx)
      const grant = await openPending(ctx, owned)
      await signDirectly(owned, grant, otherRules(grant, grant.id))
      await assert.rejects(ask(owned, grant.id, 'activate'), { status: 500, code: 'enclave_record_differs' })
      assert.deepEqual(await readFates(ctx, owned, [grant]), [['pending', null]])
    })
  })

  async function ask({ workspaceId, actor }: Owned, grantId: string, change: GrantChange): Promise<Uint8Array> {
    const { request } = await issueSigningRequest(ctx, { workspaceId, grantId, change, actor })
    assert.ok(request !== null, 'there is something to sign')
    return request.payload
  }

  async function submit({ workspaceId, owner, actor }: Owned, grantId: string, payload: Uint8Array, by = owner) {
    return await submitSignature(ctx, { workspaceId, grantId, assertion: by.assert(payload), actor })
  }

  /** Signs rules for the grant's slot as the owner, and sends them to the enclave without the service. */
  async function signDirectly(owned: Owned, grant: Grant, rules: SlotRules): Promise<void> {
    const slot = await getSlot(ctx, owned, grant)
    const toSign = ctx.enclave.prepareRules({ slot, rules, expiresAt: new Date(Date.now() + 60_000) })
    await toSign.submit(owned.owner.assert(toSign.payload).response)
  }

  function otherRules(grant: Grant, id = 'something else'): SlotRules {
    return rulesOf(ctx, { ...grant, ...makeTerms(9), contractAllowlist: grant.contractAllowlist, x402: false, id })
  }
})
