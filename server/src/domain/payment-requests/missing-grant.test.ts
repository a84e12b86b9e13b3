import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectRefusal } from '../../../../test/support/context/expect-outcome.ts'
import { paymentRequest, seed, seedGrant, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { getNoSpendableReason } from '../grants/queries.ts'
import { listRefusals } from '../refusals/queries.ts'
import { createPayment } from './create-payment.ts'
import { previewPayment } from './preview-payment.ts'

/** The grants that the agent has on the wallet, and the reason that a refused payment names for them (D89). */
const CASES = [
  { grants: [], reason: 'none' },
  { grants: ['revoked'], reason: 'revoked' },
  { grants: ['revoked', 'revoked'], reason: 'revoked' },
  { grants: ['pending'], reason: 'pending' },
  { grants: ['suspended'], reason: 'suspended' },
  { grants: ['revoked', 'pending'], reason: 'pending' },
  { grants: ['suspended', 'pending'], reason: 'suspended' },
  { grants: ['revoked', 'suspended', 'pending'], reason: 'suspended' },
] as const

type State = (typeof CASES)[number]['grants'][number]

describe('a payment without an active grant', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  for (const { grants, reason } of CASES) {
    test(`says ${reason} if the agent’s grants on the wallet are: ${grants.join(', ') || 'none'}`, async () => {
      const seeded = await seedGrants(grants)
      const request = paymentRequest(seeded)
      const { details } = expectRefusal(await createPayment(given.context, request), 'permission_not_found')
      assert.deepEqual(details, { reason })
      const preview = await previewPayment(given.context, request)
      assert.deepEqual(preview, { kind: 'refused', refusal: { code: 'permission_not_found', details: { reason } } })
      const kept = await waitFor('the refusal to be stored', async () => (await listKept(seeded))[0])
      assert.deepEqual(kept.details, { reason })
      const { workspace, mode, agentId } = seeded
      assert.equal(await getNoSpendableReason(given.context, { workspaceId: workspace.id, mode, agentId }), reason)
    })
  }

  test('says none about the grants of other agents and modes', async () => {
    const seeded = await seedGrants(['suspended'])
    for (const changes of [{ agentId: 'other' }, { mode: 'live' }] as const) {
      const holder = { workspaceId: seeded.workspace.id, mode: seeded.mode, agentId: seeded.agentId, ...changes }
      assert.equal(await getNoSpendableReason(given.context, holder), 'none')
    }
  })

  test('says that the grant has expired, if no wallet was named', async () => {
    const { workspace, mode, agentId } = await seed(given.context, { expiresAt: given.clock.now() })
    assert.equal(await getNoSpendableReason(given.context, { workspaceId: workspace.id, mode, agentId }), 'expired')
  })

  /** Seeds an agent with a wallet and these grants. The seed's own grant, which is active, is deleted. */
  async function seedGrants(states: readonly State[]): Promise<Seed> {
    const seeded = await seed(given.context)
    await readRows(given.context.db, 'delete from grants where workspace_id = $1', [seeded.workspace.id])
    const ids: string[] = []
    for (const _ of states) {
      const { id } = await seedGrant(given.context, seeded)
      await setState(id, 'revoked')
      ids.push(id)
    }
    for (const [index, id] of ids.entries()) await setState(id, states[index] ?? 'revoked')
    return seeded
  }

  async function setState(id: string, state: State): Promise<void> {
    const now = new Date()
    await readRows(
      given.context.db,
      'update grants set status = $2, suspended_at = $3, revoked_at = $4 where id = $1',
      [
        id,
        state === 'suspended' ? 'active' : state,
        state === 'suspended' ? now : null,
        state === 'revoked' ? now : null,
      ],
    )
  }

  async function listKept({ workspace, mode }: Seed) {
    return (await listRefusals(given.context, { workspaceId: workspace.id, mode, before: null, limit: 5 })).items
  }
})
