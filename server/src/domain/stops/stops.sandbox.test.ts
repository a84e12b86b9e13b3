import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { SoftwarePasskey } from '../../../../sandbox/src/software-passkey.ts'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openSandboxEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  changeUnsigned,
  getSlot,
  listGrantEvents,
  makeTerms,
  openActive,
  openNext,
  openOwned,
  openPending,
  signAndCrash,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { usedOn } from '../../../../test/support/context/owner-fixture.ts'
import { addWalletOwner, signUpPerson } from '../../../../test/support/context/people.ts'
import { agent } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createAgent } from '../agents/create-agent.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { issueSigningRequest } from '../grants/issue-signing-request.ts'
import type { Grant } from '../grants/grant.ts'
import { getGrant } from '../grants/queries.ts'
import type { StopScope } from '../grants/stopped-grants-store.ts'
import { submitSignature } from '../grants/submit-signature.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { issueResumeRequest } from './issue-resume-request.ts'
import { listStops, previewStop } from './queries.ts'
import { resumeGrants } from './resume-grants.ts'
import { challengeOf } from './resume-statement.ts'
import { stopAgents } from './stop-agents.ts'

const ALL: StopScope = { agentId: null, walletAddress: null }
const STALE = { status: 409, code: 'signing_request_stale' } as const
const NO_SIGNATURE = { status: 400, code: 'signature_invalid' } as const
const NOT_SUSPENDED = { status: 409, code: 'grant_not_suspended' } as const

/** A workspace with two wallets of two passkeys, and two agents, each with an active grant on each wallet. */
interface Scene {
  readonly first: Owned
  readonly second: Owned
  /** In this order: both agents on the first wallet, then both on the second. */
  readonly grants: readonly Grant[]
}

describe('a stop', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('suspends every grant of the mode that allows payments, with one audit entry and an event for each grant', async () => {
    const scene = await openScene()
    const [alone, ...others] = scene.grants
    await suspend(scene, alone)
    const place = { workspaceId: scene.first.workspaceId, mode: 'test' } as const
    assert.deepEqual(await previewStop(ctx, { ...place, ...ALL }), {
      grants: 3,
      agents: 2,
      wallets: 2,
      pendingPayments: 0,
    })
    const before = await listGrantEvents(ctx, scene.first)
    const { stop, grants } = await stopAll(scene)
    assert.ok(stop !== null)
    assert.equal(grants, 3)
    assert.deepEqual(await listSuspended(scene), [true, true, true, true])
    const events = (await listGrantEvents(ctx, scene.first)).slice(before.length)
    assert.deepEqual(events.map(String).toSorted(), others.map(({ id }) => `permission.suspended,${id}`).toSorted())
    const last = (await readAudit(ctx.db, place.workspaceId)).at(-1)
    const by = { actor_kind: 'user', actor_id: scene.first.actor.id }
    assert.deepEqual(last, { ...by, action: 'agents.stopped', subject: stop.id, details: { mode: 'test', grants: 3 } })

    assert.deepEqual(await stopAll(scene), { stop: null, grants: 0 }, 'a second stop finds nothing')
    assert.equal((await readAudit(ctx.db, place.workspaceId)).at(-1)?.['subject'], stop.id)
    assert.equal((await list(scene)).length, 1)
  })

  test('of an agent or a wallet suspends nothing else', async () => {
    const scene = await openScene()
    const walletAddress = scene.second.wallet.address
    assert.equal((await stopAll(scene, { agentId: null, walletAddress })).grants, 2)
    assert.deepEqual(await listSuspended(scene), [false, false, true, true])
    assert.equal((await stopAll(scene, { agentId: scene.first.agentId, walletAddress: null })).grants, 1)
    assert.deepEqual(await listSuspended(scene), [true, false, true, true])
  })

  test('suspends a grant that has just expired by our clock, because it allows payments by a clock that is behind', async () => {
    const scene = await openScene()
    const owned = { ...scene.first, agentId: await addAgent(scene.first, 'brief') }
    const expiresAt = new Date(ctx.clock.now().getTime() + 5 * 60_000)
    const { id } = await openActive(ctx, owned, makeTerms(1, { expiresAt }))
    const { workspaceId, mode, actor } = scene.first
    await stopAgents(later(ctx, 5 * 60_000 + 2_000), { workspaceId, mode, ...ALL, actor })
    assert.ok((await read(scene, id)).suspendedAt !== null)
  })

  test('is resumed with one signature for each passkey, and brings back exactly what it suspended', async () => {
    const scene = await openScene()
    const [alone, revoked] = scene.grants
    await suspend(scene, alone)
    const { stop } = await stopAll(scene)
    assert.ok(stop !== null && revoked !== undefined)
    await signChange(ctx, scene.first, { grantId: revoked.id, change: 'revoke' })
    const [listed] = await list(scene)
    assert.deepEqual(
      listed?.groups.map(({ credentialId, isMine, wallets }) => [credentialId, isMine, wallets[0]?.grants]),
      [[scene.second.owner.credentialId, true, 2]],
    )
    const before = await listGrantEvents(ctx, scene.first)
    const resumed = await resume(scene, stop.id, scene.second.owner)
    assert.equal(resumed.length, 2)
    assert.deepEqual(await listSuspended(scene), [true, true, false, false])
    const events = (await listGrantEvents(ctx, scene.first)).slice(before.length)
    const expected = scene.grants.slice(2).map(({ id }) => `permission.resumed,${id}`)
    assert.deepEqual(events.map(String).toSorted(), expected.toSorted())
    const last = (await readAudit(ctx.db, scene.first.workspaceId)).at(-1)
    assert.deepEqual([last?.['action'], last?.['subject']], ['agents.resumed', stop.id])
    assert.deepEqual(await list(scene), [], 'it is no longer in force')
    await assert.rejects(resume(scene, stop.id, scene.first.owner), NOT_SUSPENDED)
  })

  test('needs the signature of each passkey that owns one of its wallets', async () => {
    const scene = await openScene()
    const { stop } = await stopAll(scene)
    assert.ok(stop !== null)
    await resume(scene, stop.id, scene.first.owner)
    assert.deepEqual(await listSuspended(scene), [false, false, true, true])
    const [left] = await list(scene)
    assert.deepEqual(
      left?.groups.map(({ credentialId }) => credentialId),
      [scene.second.owner.credentialId],
    )
    await resume(scene, stop.id, scene.second.owner)
    assert.deepEqual(await listSuspended(scene), [false, false, false, false])
  })

  test('concerns a grant whose signature was asked for before, and not one that was asked for later', async () => {
    const scene = await openScene()
    const { workspaceId, actor, owner } = scene.first
    const next = await openNext(ctx, scene.first, scene.grants[0] ?? assert.fail())
    const early = await issueSigningRequest(ctx, { workspaceId, grantId: next.id, change: 'activate', actor })
    const fresh = await openPending(ctx, { ...scene.first, agentId: await addAgent(scene.first, 'fresh') })
    const asked = await issueSigningRequest(ctx, { workspaceId, grantId: fresh.id, change: 'activate', actor })
    await stopAll(scene)
    for (const { grant, request } of [early, asked]) {
      const assertion = owner.assert(request?.payload ?? assert.fail())
      await assert.rejects(submitSignature(ctx, { workspaceId, grantId: grant.id, assertion, actor }), STALE)
    }
    const behind = later(ctx, 6 * 60_000)
    const signed = await signChange(behind, scene.first, { grantId: fresh.id, change: 'activate' })
    assert.equal(signed.suspendedAt, null)
  })

  test('suspends a grant whose signature the enclave had accepted before, but that was not recorded yet', async () => {
    const scene = await openScene()
    const owned = { ...scene.first, agentId: await addAgent(scene.first, 'late') }
    const { id: grantId } = await openPending(ctx, owned)
    await signAndCrash(ctx, owned, { grantId, change: 'activate' })
    await stopAll(scene)
    const found = await changeUnsigned(ctx, owned, { grantId, change: 'activate' })
    assert.deepEqual([found.status, found.suspendedAt === null], ['active', false])
    const [stop] = await list(scene)
    assert.deepEqual(stop?.wallets.map(({ grants }) => grants).toSorted(), [2, 3], 'it is resumed with the stop')
  })

  describe('the signature that resumes', () => {
    test('works once, and not after the grant was suspended again', async () => {
      const scene = await openScene()
      const { stop } = await stopAll(scene)
      assert.ok(stop !== null)
      const signed = await sign(scene, { stopId: stop.id, credentialId: scene.first.owner.credentialId })
      await submit(scene, { stopId: stop.id, ...signed })
      await assert.rejects(submit(scene, { stopId: stop.id, ...signed }), NOT_SUSPENDED)
      const [grant] = scene.grants
      await suspend(scene, grant)
      const grantId = grant?.id ?? ''
      const once = await sign(scene, { grantId })
      await submit(scene, { grantId, ...once })
      await suspend(scene, grant, later(ctx, 1))
      await assert.rejects(submit(scene, { grantId, ...once }), STALE)
      assert.notEqual((await read(scene, grantId)).suspendedAt, null)
    })

    test('is of a passkey that owns the wallets, made on the signer page for this statement', async () => {
      const scene = await openScene()
      const [grant] = scene.grants
      await suspend(scene, grant)
      const grantId = grant?.id ?? ''
      const { workspaceId } = scene.first
      const { payload, expiresAt, credentials } = await issueResumeRequest(ctx, { workspaceId, grantId })
      assert.deepEqual(
        credentials.map(({ id }) => id),
        [scene.first.owner.credentialId],
      )
      const { owner } = scene.first
      const challenge = challengeOf(payload)
      const person = await signUpPerson(ctx)
      const elsewhere = usedOn(owner, { id: 'evil.example', origin: 'https://evil.example' })
      const wrong = [scene.second.owner, person.passkey, elsewhere].map((passkey) => passkey.assert(challenge))
      for (const assertion of wrong) {
        await assert.rejects(submit(scene, { grantId, expiresAt, assertion }), NO_SIGNATURE)
      }
      await assert.rejects(submit(scene, { grantId, expiresAt, assertion: owner.assert(payload) }), STALE)
      const assertion = owner.assert(challenge)
      const expired = later(ctx, 5 * 60_000)
      await assert.rejects(submit(scene, { grantId, expiresAt, assertion }, expired), {
        code: 'signing_request_expired',
      })
      // A statement that is valid for longer than five minutes, although it is otherwise as the service makes it.
      const long = await issueResumeRequest(later(ctx, 60_000), { workspaceId, grantId })
      const lasting = { expiresAt: long.expiresAt, assertion: owner.assert(challengeOf(long.payload)) }
      await assert.rejects(submit(scene, { grantId, ...lasting }), STALE)
      const foreign = await openOwned(ctx)
      await assert.rejects(submit({ ...scene, first: foreign }, { grantId, expiresAt, assertion }), { status: 404 })
      assert.notEqual((await read(scene, grantId)).suspendedAt, null)
      await submit(scene, { grantId, expiresAt, assertion })
      assert.equal((await read(scene, grantId)).suspendedAt, null)
    })

    test('is accepted by no enclave, neither of the statement nor of its hash', async () => {
      const scene = await openScene()
      const [grant = assert.fail()] = scene.grants
      await suspend(scene, grant)
      const { workspaceId, owner } = scene.first
      const { payload, expiresAt } = await issueResumeRequest(ctx, { workspaceId, grantId: grant.id })
      const slot = await getSlot(ctx, scene.first, grant)
      const rules = await ctx.enclave.readRules(slot)
      const request = ctx.enclave.prepareRules({ slot, rules: [], expiresAt })
      for (const challenge of [challengeOf(payload), payload]) {
        await assert.rejects(request.submit(owner.assert(challenge).response), { name: 'EnclaveRefused' })
      }
      assert.deepEqual(await ctx.enclave.readRules(slot), rules)
      await request.submit(owner.assert(request.payload).response)
      assert.deepEqual(await ctx.enclave.readRules(slot), [], 'the same request with its own signature is accepted')
    })
  })

  async function openScene(): Promise<Scene> {
    const first = await openOwned(ctx)
    const { workspaceId, mode, actor } = first
    const owner = await addWalletOwner(ctx, actor.id, 'Second passkey')
    const { credentialId } = owner
    const wallet = await createWallet(ctx, { workspaceId, mode, name: 'Savings', credentialId, actor: OPERATOR })
    const second = { ...first, owner, wallet }
    const other = await addAgent(first, 'other')
    const grants: Grant[] = []
    for (const owned of [first, second]) {
      for (const agentId of [first.agentId, other])
        grants.push(await openActive(ctx, { ...owned, agentId }, makeTerms()))
    }
    return { first, second, grants }
  }

  async function addAgent({ workspaceId, mode, actor }: Owned, name: string) {
    const id = agent(name)
    await createAgent(ctx, { workspaceId, mode, id, actor })
    return id
  }

  async function stopAll({ first: { workspaceId, mode, actor } }: Scene, scope = ALL) {
    return await stopAgents(ctx, { workspaceId, mode, ...scope, actor })
  }

  async function suspend(
    { first: { workspaceId, actor } }: Scene,
    grant: Grant | undefined,
    context: Context = ctx,
  ): Promise<void> {
    await suspendGrant(context, { workspaceId, grantId: grant?.id ?? '', actor })
  }

  async function list({ first: { workspaceId, mode, actor } }: Scene) {
    return await listStops(ctx, { workspaceId, mode, userId: actor.id })
  }

  function read({ first: { workspaceId } }: Scene, grantId: string): Promise<Grant> {
    return getGrant(ctx, { workspaceId, grantId })
  }

  async function listSuspended(scene: Scene): Promise<boolean[]> {
    const grants = await Promise.all(scene.grants.map(({ id }) => read(scene, id)))
    return grants.map(({ suspendedAt }) => suspendedAt !== null)
  }

  /** Signs what resumes a grant, or of a stop what the passkey can sign for. */
  async function sign({ first, second }: Scene, asked: { stopId: string; credentialId: string } | { grantId: string }) {
    const { workspaceId } = first
    const { payload, expiresAt, credentials } = await issueResumeRequest(ctx, { workspaceId, ...asked })
    const passkey = [first.owner, second.owner].find(({ credentialId }) => credentialId === credentials[0]?.id)
    return { expiresAt, assertion: (passkey ?? first.owner).assert(challengeOf(payload)) }
  }

  async function submit(
    { first: { workspaceId, actor } }: Scene,
    signed: { expiresAt: Date; assertion: ReturnType<SoftwarePasskey['assert']> } & (
      | { stopId: string }
      | { grantId: string }
    ),
    context: Context = ctx,
  ) {
    return await resumeGrants(context, { workspaceId, ...signed, actor })
  }

  async function resume(scene: Scene, stopId: string, { credentialId }: SoftwarePasskey) {
    return await submit(scene, { stopId, ...(await sign(scene, { stopId, credentialId })) })
  }
})
