import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seedPayment } from '../../../../../test/support/context/payment-rows.ts'
import {
  agent,
  address,
  RECIPIENT,
  seed,
  seedGrant,
  seedWallet,
  type Seed,
} from '../../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../../test/support/database/read-rows.ts'
import { startFakeServer } from '../../../../../test/support/wires/fake-server.ts'
import { ZERO_ADDRESS, type Address } from '../../../values/address.ts'
import { createAgent } from '../../agents/create-agent.ts'
import { OPERATOR } from '../../audit/audit-entry.ts'
import { markGrantRevoked } from '../../grants/grants-store.ts'
import { labelRecipient } from '../../recipients/label-recipient.ts'
import { formatWalletBudget } from './format-wallet-budget.ts'
import { getWalletBudget, listWalletBudgets } from './queries.ts'
import { PAGE_RECIPIENTS_MAX } from './wallet-budget.ts'

const OTHER_RECIPIENT = address('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC')
const DAY_MS = 24 * 60 * 60 * 1_000

describe('wallets, with what agents may spend from them', () => {
  let given: TestContext
  let ada: Seed
  /** A second agent, with a grant on the first agent's wallet and a grant on a second wallet. */
  let bob: Seed
  let bobAtFirst: Seed
  before(async () => {
    given = await openTestContext()
    const ctx = given.context
    ada = await seed(ctx, { recipients: [RECIPIENT, OTHER_RECIPIENT], maxPerTx: '2.5', dailyCap: '10' })
    const second = agent('bob')
    await createAgent(ctx, { workspaceId: ada.workspace.id, mode: 'test', id: second, actor: OPERATOR })
    const place = { ...ada, agentId: second }
    bobAtFirst = { ...place, grant: await seedGrant(ctx, place) }
    const atSecond = { ...place, wallet: await seedWallet(ctx, ada) }
    bob = { ...atSecond, grant: await seedGrant(ctx, atSecond, { expiresAt: new Date(Date.now() + DAY_MS) }) }
    await labelRecipient(ctx, {
      ...{ workspaceId: ada.workspace.id, mode: 'test', address: RECIPIENT, label: 'Acme', actor: OPERATOR },
    })
    await seedPayment(ctx, ada, { amountUsdc: '1.25' })
    await seedPayment(ctx, ada, { amountUsdc: '2', status: 'failed' })
    await seedPayment(ctx, ada, { amountUsdc: '2', at: new Date(Date.now() - DAY_MS - 1_000) })
    given.chains.test.balances.set(ada.wallet.toLowerCase(), 7_500_000n)
    await seed(ctx)
    await seed(ctx, { mode: 'live' })
  })
  after(() => given.close())

  test('a wallet has all fields of D54', async () => {
    const wallet = formatWalletBudget(await get(ada))
    const [ofAda] = wallet.grants.filter(({ agent_id: id }) => id === ada.agentId)
    assert.deepEqual(
      { ...wallet, grants: ofAda },
      {
        address: ada.wallet,
        name: 'Seeded',
        mode: 'test',
        balance_usdc: '7.5',
        grants: {
          grant_id: ada.grant.id,
          agent_id: ada.agentId,
          state: 'active',
          max_per_tx_usdc: '2.5',
          daily_cap_usdc: '10',
          spent_24h_usdc: '1.25',
          remaining_24h_usdc: '8.75',
          recipients: [
            { address: RECIPIENT, label: 'Acme' },
            { address: OTHER_RECIPIENT, label: null },
          ],
          expires_at: null,
          x402: false,
        },
      },
    )
    const [ofBob] = (await get(bob)).grants
    assert.deepEqual([ofBob?.recipients, ofBob?.expiresAt], [[], bob.grant.expiresAt])
  })

  test('a caller that is bound to no agent sees all wallets of the workspace and mode, with all grants', async () => {
    const { wallets, hasMore } = await list()
    const expected = [ada.wallet, bob.wallet].toSorted()
    assert.deepEqual([wallets.map((wallet) => wallet.address), hasMore], [expected, false])
    const grants = wallets.flatMap((wallet) => wallet.grants.map(({ id }) => id))
    assert.deepEqual(grants.toSorted(), [ada.grant.id, bob.grant.id, bobAtFirst.grant.id].toSorted())
  })

  test('a caller that is bound to an agent sees this agent’s wallets and grants only, and 404 for others', async () => {
    const { wallets } = await list({ boundAgentId: ada.agentId })
    assert.deepEqual(
      wallets.map((wallet) => [wallet.address, wallet.grants.map(({ id }) => id)]),
      [[ada.wallet, [ada.grant.id]]],
    )
    assert.deepEqual(
      (await get(ada, ada.agentId)).grants.map(({ id }) => id),
      [ada.grant.id],
    )
    await assert.rejects(get(bob, ada.agentId), { code: 'wallet_not_found' })
    assert.equal((await list({ boundAgentId: bob.agentId })).wallets.length, 2)
  })

  test('a wallet of another workspace or mode, or one that does not exist, is 404', async () => {
    const [other, live] = [await seed(given.context), await seed(given.context, { mode: 'live' })]
    for (const { wallet } of [other, live, { wallet: ZERO_ADDRESS }]) {
      await assert.rejects(get({ ...ada, wallet }), { code: 'wallet_not_found' })
    }
    await assert.rejects(get({ ...ada, mode: 'live' }), { code: 'wallet_not_found' })
  })

  test('pages of one wallet list every wallet once', async () => {
    for (const boundAgentId of [null, bob.agentId]) {
      const first = await list({ boundAgentId, limit: 1 })
      const [wallet] = first.wallets
      assert.ok(wallet !== undefined && first.hasMore)
      const second = await list({ boundAgentId, limit: 1, startingAfter: wallet.address })
      assert.deepEqual(second.hasMore, false)
      const found = [wallet.address, ...second.wallets.map((next) => next.address)]
      assert.deepEqual(found, [ada.wallet, bob.wallet].toSorted())
    }
  })

  test('a page is cut before the wallet whose grants would make it too large, and the next page has this wallet', async () => {
    const seeded = await seed(given.context)
    const second = { ...seeded, wallet: await seedWallet(given.context, seeded) }
    await seedGrant(given.context, second)
    const text = `update grants set recipient_allowlist = array(select '0x' || lpad(n::text, 40, '0')
      from generate_series(1, $2::integer) n) where workspace_id = $1`
    const workspaceId = seeded.workspace.id
    const addresses = [seeded.wallet, second.wallet].toSorted()
    for (const [recipients, pages] of [
      [PAGE_RECIPIENTS_MAX / 2, [addresses]],
      [PAGE_RECIPIENTS_MAX / 2 + 1, addresses.map((wallet) => [wallet])],
    ] as const) {
      await readRows(given.context.db, text, [workspaceId, recipients])
      const found: string[][] = []
      for (let startingAfter: Address | null = null; found.length < pages.length;) {
        const { wallets, hasMore }: Awaited<ReturnType<typeof list>> = await list({ workspaceId, startingAfter })
        found.push(wallets.map((wallet) => wallet.address))
        assert.equal(hasMore, found.length < pages.length)
        startingAfter = wallets.at(-1)?.address ?? null
      }
      assert.deepEqual(found, pages)
    }
  })

  test('nothing remains on a grant that is suspended, expired or pending, and its state says so', async () => {
    const seeded = await seed(given.context)
    const changes = [
      ['suspended', 'suspended_at = $3'],
      ['expired', 'suspended_at = null, expires_at = $3'],
      ['pending', "expires_at = null, status = 'pending', activated_at = null"],
    ] as const
    for (const [state, change] of changes) {
      const text = `update grants set ${change} where workspace_id = $1 and id = $2 and $3::timestamptz is not null`
      await readRows(given.context.db, text, [seeded.workspace.id, seeded.grant.id, given.clock.now()])
      const [grant] = formatWalletBudget(await get(seeded)).grants
      assert.deepEqual([grant?.state, grant?.remaining_24h_usdc, grant?.daily_cap_usdc], [state, '0', '100'])
      // A caller that is bound to the agent sees the wallet once its owner has signed a grant.
      const { wallets } = await list({ workspaceId: seeded.workspace.id, boundAgentId: seeded.agentId })
      assert.equal(wallets.length, state === 'pending' ? 0 : 1)
    }
  })

  test('after its grant was revoked, a wallet has no grants, and the agent does not see it', async () => {
    const seeded = await seed(given.context)
    await given.context.db.write(markGrantRevoked(seeded.workspace.id, seeded.grant.id, given.clock.now()))
    assert.deepEqual((await get(seeded)).grants, [])
    await assert.rejects(get(seeded, seeded.agentId), { code: 'wallet_not_found' })
  })

  test('the balance is null while the chain is out of reach, and the rest is returned', async () => {
    const seeded = await seed(given.context)
    given.chains.test.down = true
    try {
      const wallet = await get(seeded)
      assert.deepEqual([wallet.balanceMicro, wallet.grants.length], [null, 1])
    } finally {
      given.chains.test.down = false
    }
  })

  function list(request: Partial<Parameters<typeof listWalletBudgets>[1]> = {}) {
    const place = {
      workspaceId: ada.workspace.id,
      mode: 'test',
      boundAgentId: null,
      startingAfter: null,
      limit: 100,
    } as const
    return listWalletBudgets(given.context, { ...place, ...request })
  }

  function get({ workspace, mode, wallet }: Seed, boundAgentId: string | null = null) {
    return getWalletBudget(given.context, { workspaceId: workspace.id, mode, boundAgentId, address: wallet })
  }
})

test('a chain that never responds delays wallets by the named time only', async (t) => {
  const hanging = await startFakeServer(() => {})
  const given = await openTestContext((config) => {
    const test = { ...config.chains.test, rpcUrls: [hanging.url] }
    return { ...config, chains: { ...config.chains, test } }
  })
  t.after(async () => {
    await given.close()
    await hanging.close()
  })
  const { workspace, wallet } = await seed(given.context)
  const place = { workspaceId: workspace.id, mode: 'test', boundAgentId: null } as const
  // The chain's own time limit is much longer than the 50 milliseconds below.
  const chain = given.context.chains.test.readUsdcBalance(wallet).then(
    () => assert.fail('the chain responded'),
    () => 'the chain was awaited' as const,
  )
  const budget = getWalletBudget(given.context, { ...place, address: wallet, balanceWaitMsMax: 50 })
  const first = await Promise.race([chain, budget])
  assert.ok(typeof first === 'object', 'the chain was awaited')
  assert.deepEqual([first.balanceMicro, first.grants.length], [null, 1])
})
