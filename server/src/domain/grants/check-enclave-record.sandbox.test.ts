import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import type { Json } from '../../../../test/support/wires/enclave-proxy.ts'
import { openOwned, openPending, readFates, type Owned } from '../../../../test/support/context/grant-fixture.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import type { Grant, GrantChange } from './grant.ts'
import { issueSigningRequest } from './issue-signing-request.ts'
import { submitSignature } from './submit-signature.ts'

const POLICY = /^\/v1\/policies\/[^/]+$/
const WALLET = /^\/v1\/wallets\/[^/]+$/
const PAUSES_MS = [200, 400, 800, 1_600]
const DIFFERS = { status: 500, code: 'enclave_record_differs' } as const

interface Line {
  readonly level: string
  readonly members: Record<string, unknown>
}

describe("checkEnclaveRecord: the enclave's record after a grant was signed", () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  let lines: Line[] = []
  let pauses: number[] = []
  let restore: (() => void)[] = []
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    const { context } = given
    const write = (level: string) => (members: Record<string, unknown>) => void lines.push({ level, members })
    const logger = Object.assign(Object.create(context.logger), { info: write('info'), error: write('error') })
    ctx = { ...context, logger }
  })
  afterEach(() => {
    for (const one of restore) one()
    ;[lines, pauses, restore] = [[], [], []]
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  /** From now on, the result of `change` replaces the enclave's response to each read whose path matches. */
  function rewrite(path: RegExp, change: (answer: Json, reads: number) => unknown): void {
    restore.push(enclave.proxy.rewrite(path, change))
  }

  /**
   * Activates the grant with the owner's signature. The pauses between reads of the enclave are recorded and take no
   * time.
   */
  async function activate({ workspaceId, owner, actor }: Owned, { id: grantId }: Grant): Promise<Grant> {
    const { request } = await issueSigningRequest(ctx, { workspaceId, grantId, change: 'activate', actor })
    assert.ok(request !== null)
    const assertion = owner.assert(request.payload)
    const pause = async (milliseconds: number): Promise<void> => void pauses.push(milliseconds)
    return await submitSignature(ctx, { workspaceId, grantId, assertion, actor, pause })
  }

  async function open(): Promise<{ owned: Owned; grant: Grant }> {
    const owned = await openOwned(ctx)
    return { owned, grant: await openPending(ctx, owned) }
  }

  const addToAll = (members: object) => (policy: Json) => ({
    ...policy,
    ...members,
    rules: policy['rules']?.map((rule) => ({
      ...rule,
      ...members,
      conditions: rule['conditions']?.map((condition) => ({ ...condition, ...members })),
    })),
  })

  test('a null field that the provider added everywhere is not a difference, and is logged', async () => {
    const { owned, grant } = await open()
    rewrite(POLICY, addToAll({ new_member: null }))
    rewrite(WALLET, (wallet) => ({
      ...wallet,
      new_member: 'any',
      additional_signers: wallet['additional_signers']?.map((signer) => ({ ...signer, new_member: null })),
    }))
    assert.equal((await activate(owned, grant)).status, 'active')
    assert.deepEqual(pauses, [])
    const [line] = lines
    assert.equal(line?.level, 'info')
    assert.ok((line.members['ignored'] as string[]).includes('rules[0].conditions[0].new_member'))
  })

  test('an unknown field of the policy itself, or one that only describes a rule, is not a difference', async () => {
    const { owned, grant } = await open()
    rewrite(POLICY, (policy) => ({
      ...policy,
      labels: ['x'],
      rules: policy['rules']?.map((rule) => ({ ...rule, description: 'x' })),
    }))
    assert.equal((await activate(owned, grant)).status, 'active')
  })

  for (const [what, members] of [
    ['an unknown member that may turn a condition around', { negate: true }],
    ['any other unknown member of a rule or condition', { new_member: 'any' }],
  ] as const) {
    test(`${what} is a difference: nothing is recorded, and the log names it`, async () => {
      const { owned, grant } = await open()
      rewrite(POLICY, addToAll(members))
      await assert.rejects(activate(owned, grant), DIFFERS)
      assert.deepEqual(pauses, PAUSES_MS)
      assert.deepEqual(await readFates(ctx, owned, [grant]), [['pending', null]])
      const [line] = lines
      assert.equal(line?.level, 'error')
      assert.equal(line.members['grant'], grant.id)
      const differences = line.members['differences'] as string[]
      assert.equal(differences[0], `rules[0].${Object.keys(members)[0]}`)
    })
  }

  test('outdated reads are repeated, and the grant is recorded once they are right', async () => {
    const { owned, grant } = await open()
    rewrite(WALLET, (wallet, reads) => (reads < 4 ? { ...wallet, additional_signers: [] } : wallet))
    // The first two reads are made before the owner's signature is sent, and show the slot as it was.
    rewrite(POLICY, (policy, reads) => (reads < 4 ? { ...policy, rules: [] } : policy))
    assert.equal((await activate(owned, grant)).status, 'active')
    assert.deepEqual(pauses, PAUSES_MS.slice(0, 3))
    assert.deepEqual(lines, [])
  })

  for (const [what, path, change, named] of [
    [
      'a higher maximum',
      POLICY,
      (policy: Json) => JSON.parse(JSON.stringify(policy).replace('"1000000"', '"1000001"')) as unknown,
      'rules[0].conditions on transfer.amount',
    ],
    [
      'another owner of the policy',
      POLICY,
      (policy: Json) => ({ ...policy, owner_id: 'other' }),
      'owner of the policy',
    ],
    [
      'a rule that is named as another grant',
      POLICY,
      (policy: Json) => ({ ...policy, rules: policy['rules']?.map((rule) => ({ ...rule, name: 'grt_other' })) }),
      'names of the rules',
    ],
    [
      'a second rule',
      POLICY,
      (policy: Json) => ({ ...policy, rules: [...listOf(policy, 'rules'), ...listOf(policy, 'rules')] }),
      '2 rules instead of 1',
    ],
    [
      'one more signer of the wallet',
      WALLET,
      (wallet: Json) => {
        const more = { signer_id: 'x', override_policy_ids: ['x'] }
        return { ...wallet, additional_signers: [...listOf(wallet, 'additional_signers'), more] }
      },
      'signers of the wallet',
    ],
    [
      'a signer under the policy of another slot',
      WALLET,
      (wallet: Json) => {
        const [first, second, ...rest] = listOf(wallet, 'additional_signers')
        const moved = { ...second, override_policy_ids: first?.['override_policy_ids'] }
        return { ...wallet, additional_signers: [first, moved, ...rest] }
      },
      'signers of the wallet',
    ],
    [
      'another owner of the wallet',
      WALLET,
      (wallet: Json) => ({ ...wallet, owner_id: 'other' }),
      'owner of the wallet',
    ],
  ] as const) {
    test(`${what} is a real difference`, async () => {
      const { owned, grant } = await open()
      rewrite(path, change)
      await assert.rejects(activate(owned, grant), DIFFERS)
      assert.deepEqual(lines[0]?.members['differences'], [named])
      assert.deepEqual(await readFates(ctx, owned, [grant]), [['pending', null]])
    })
  }

  test('while reads are outdated, a grant that was signed cannot be dropped, and then it is recorded without a new signature', async () => {
    const { owned, grant } = await open()
    rewrite(POLICY, (policy) => ({ ...policy, rules: [] }))
    await assert.rejects(activate(owned, grant), DIFFERS)
    const { workspaceId, actor } = owned
    const prepare = (change: GrantChange) => issueSigningRequest(ctx, { workspaceId, grantId: grant.id, change, actor })
    await assert.rejects(prepare('revoke'), { status: 409, code: 'signer_change_under_way' })
    for (const one of restore) one()
    assert.equal((await prepare('activate')).grant.status, 'active')
  })

  test('a caller who finds the grant enforced does not record a grant that differs; once the difference is gone, no new signature is needed', async () => {
    const { owned, grant } = await open()
    rewrite(POLICY, addToAll({ new_member: 'any' }))
    await assert.rejects(activate(owned, grant), DIFFERS)
    const { workspaceId, actor } = owned
    const prepare = () => issueSigningRequest(ctx, { workspaceId, grantId: grant.id, change: 'activate', actor })
    await assert.rejects(prepare(), DIFFERS)
    assert.deepEqual(await readFates(ctx, owned, [grant]), [['pending', null]])
    for (const one of restore) one()
    assert.equal((await prepare()).grant.status, 'active')
  })
})

function listOf(json: Json, name: string): Record<string, unknown>[] {
  return JSON.parse(JSON.stringify(json[name])) as Record<string, unknown>[]
}
