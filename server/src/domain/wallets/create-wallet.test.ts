import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { listAuditActions } from '../../../../test/support/context/audit.ts'
import type { SoftwarePasskey } from '../../../../sandbox/src/software-passkey.ts'
import { addWalletOwner, justProved, seedOwner, signUpPerson } from '../../../../test/support/context/people.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { enforceRateLimit } from '../enforce-rate-limit.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Plan } from '../plans/plan.ts'
import { addWalletPasskey } from './add-wallet-passkey.ts'
import { createWallet } from './create-wallet.ts'
import { listOwners } from './wallet-owners-store.ts'
import { slotSealContext } from './slot-seal-context.ts'
import { listSlots } from './slots-store.ts'
import { WALLET_SLOTS_MAX } from '../../values/limits.ts'
import { countWallets, findWallet } from './wallets-store.ts'

describe('createWallet', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext((config) => ({ ...config, walletSlots: WALLET_SLOTS_MAX }))
  })
  after(() => given.close())

  test('a wallet is recorded as the enclave made it, with its owner and 50 slots', async () => {
    const { workspace, userId, owner } = await open('developer')
    const { context: ctx, enclave } = given
    enclave.created.length = 0
    const wallet = await create({ workspace, owner }, ' Treasury ')
    assert.equal(wallet.name, 'Treasury')
    const found = await ctx.db.read(findWallet(workspace.id, 'test', wallet.address))
    assert.deepEqual(found, wallet)
    const owners = await ctx.db.read(listOwners(wallet))
    assert.deepEqual(
      owners.map((one) => [one.credentialId, one.userId]),
      [[owner.credentialId, userId]],
    )
    const slots = await ctx.db.read(listSlots(wallet))
    assert.deepEqual(
      slots.map(({ slot }) => slot),
      Array.from({ length: WALLET_SLOTS_MAX }, (_, index) => index + 1),
    )
    assert.equal(
      new Set(slots.flatMap(({ enclaveRulesId, signerId }) => [enclaveRulesId, signerId])).size,
      2 * WALLET_SLOTS_MAX,
    )
    assert.equal(enclave.created.filter((path) => path === '/v1/policies').length, WALLET_SLOTS_MAX)
    assert.equal(enclave.created.filter((path) => path === '/v1/key_quorums').length, WALLET_SLOTS_MAX + 1)
  })

  test('the key of a slot is sealed for this slot alone', async () => {
    const { workspace, owner } = await open('developer')
    const wallet = await create({ workspace, owner })
    const { sealer, db } = given.context
    const text =
      'select slot, signer_private_key_sealed from wallet_slots where wallet_address = $1 order by slot limit 2'
    const rows = await readRows(db, text, [wallet.address])
    const [first, second] = rows.map((row) => row['signer_private_key_sealed'] as Buffer)
    assert.ok(first !== undefined && second !== undefined)
    const place = { workspaceId: workspace.id, mode: 'test', walletAddress: wallet.address } as const
    assert.match(sealer.open(first, slotSealContext(place, 1)), /^[A-Za-z0-9+/=]+$/)
    assert.throws(() => sealer.open(second, slotSealContext(place, 1)))
    assert.notEqual(sealer.open(first, slotSealContext(place, 1)), sealer.open(second, slotSealContext(place, 2)))
  })

  test('of 10 parallel creations under a cap of 3, exactly 3 are recorded, in each mode by itself', async () => {
    const { workspace, owner } = await open('developer')
    await openConnections(given.context.db)
    // The number of slots does not matter here, and each slot takes two requests to the enclave.
    const ctx = { ...given.context, walletSlots: 1 }
    const { credentialId } = owner
    const asked = { workspaceId: workspace.id, mode: 'test', name: 'Wallet', credentialId, actor: OPERATOR } as const
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => createWallet(ctx, asked)))
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue
      const { status, code, details } = outcome.reason as { status: number; code: string; details: unknown }
      assert.deepEqual([status, code, details], [400, 'wallet_cap_reached', { wallets_max: 3 }])
    }
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3)
    assert.equal(await given.context.db.read(countWallets(workspace.id, 'test')), 3)
    const actions = await listAuditActions(given.context.db, workspace.id)
    assert.equal(actions.filter((action) => action === 'wallet.created').length, 3)
    assert.equal((await create({ workspace, owner }, 'Live', 'live')).mode, 'live')
  })

  test('a person creates at most 10 wallets an hour in a workspace; further ones cost the enclave nothing', async () => {
    const { workspace, userId, owner } = await open('scale')
    const { context: ctx, enclave } = given
    const actor = { kind: 'user', id: userId, ...justProved(ctx) } as const
    const asked = { workspaceId: workspace.id, mode: 'test', credentialId: owner.credentialId, actor } as const
    await assert.rejects(createWallet(ctx, { ...asked, name: '' }), { status: 400 })
    for (let count = 0; count < 9; count += 1) {
      await enforceRateLimit(ctx, { subject: workspace.id, bucket: 'wallet_creation' })
    }
    await createWallet(ctx, { ...asked, name: 'Last' })
    enclave.created.length = 0
    const tooMany = { status: 429, code: 'rate_limit_exceeded' }
    await assert.rejects(createWallet(ctx, { ...asked, name: 'W', mode: 'live' }), tooMany)
    assert.deepEqual(enclave.created, [])
    assert.equal((await create({ workspace, owner }, 'Of the operator')).name, 'Of the operator')
  })

  test('a blank or too long name is rejected', async () => {
    const opened = await open('scale')
    for (const name of ['', '   ', 'x'.repeat(101)]) await assert.rejects(create(opened, name), { status: 400 })
  })

  test("a person's wallet can be owned by a wallet passkey of that person only", async () => {
    const [own, foreign] = [await open('scale'), await open('scale')]
    const person = await signUpPerson(given.context)
    const actor = { kind: 'user', id: own.userId, ...justProved(given.context) } as const
    const ask = (credentialId: string) =>
      createWallet(given.context, { workspaceId: own.workspace.id, mode: 'test', name: 'W', credentialId, actor })
    for (const credentialId of [foreign.owner.credentialId, person.passkey.credentialId, 'unknown']) {
      await assert.rejects(ask(credentialId), { status: 404, code: 'passkey_not_found' })
    }
    assert.equal(await given.context.db.read(countWallets(own.workspace.id, 'test')), 0)
    assert.equal((await ask(own.owner.credentialId)).name, 'W')
  })

  test('without a signer page no wallet is created, because nobody could sign for it', async () => {
    const { workspace, owner } = await open('scale')
    const { credentialId } = owner
    const asked = { workspaceId: workspace.id, mode: 'test', name: 'W', credentialId, actor: OPERATOR } as const
    await assert.rejects(createWallet({ ...given.context, signer: null }, asked), { code: 'signer_not_configured' })
  })

  test('a wallet passkey that is not ES256 is rejected, and so is one that exists', async () => {
    const { userId, owner } = await open('scale')
    const faults = [new Uint8Array(), new Uint8Array([0xff, 0x00]), coseKey(-8), coseKey(-257)]
    const add = (credentialId: string, publicKeyCose: Uint8Array) => {
      const registered = { credentialId, publicKeyCose, transports: [] }
      const registration = { attestationObject: 'AA', clientDataJSON: 'AA' }
      return addWalletPasskey(given.context, { userId, registered, registration, name: 'Key' })
    }
    for (const publicKeyCose of faults) await assert.rejects(add('another', publicKeyCose), { status: 400 })
    await assert.rejects(add(owner.credentialId, coseKey(-7)), { status: 409, code: 'passkey_exists' })
  })

  async function open(plan: Plan) {
    const workspace = await createEmptyWorkspace(given.context, { name: 'Wallets', plan, actor: OPERATOR })
    const { userId } = await seedOwner(given.context, workspace)
    return { workspace, userId, owner: await addWalletOwner(given.context, userId) }
  }

  function create(
    { workspace, owner }: { workspace: Workspace; owner: SoftwarePasskey },
    name = 'Wallet',
    mode: 'test' | 'live' = 'test',
  ) {
    const { credentialId } = owner
    return createWallet(given.context, { workspaceId: workspace.id, mode, name, credentialId, actor: OPERATOR })
  }
})

/** A COSE key (RFC 9053, section 7.1.1): {1: 2, 3: algorithm, -1: 1, -2: x, -3: y}, on P-256. */
function coseKey(algorithm: -7 | -8 | -257): Uint8Array {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const bytes = (text: string): Buffer => Buffer.concat([Buffer.from('5820', 'hex'), Buffer.from(text, 'base64url')])
  const algorithms = { '-7': '26', '-8': '27', '-257': '390100' } as const
  const head = Buffer.from(`a5010203${algorithms[algorithm]}200121`, 'hex')
  return Uint8Array.from(Buffer.concat([head, bytes(x), Buffer.from('22', 'hex'), bytes(y)]))
}
