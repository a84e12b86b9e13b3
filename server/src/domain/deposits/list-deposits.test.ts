import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { seed, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { listDeposits } from './list-deposits.ts'
import { listDepositRows } from './deposits-store.ts'

const ROWS = 2_000

describe('listDeposits', () => {
  let given: TestContext
  let seeded: Seed
  let wallet: Address
  before(async () => {
    given = await openTestContext()
    seeded = await seed(given.context)
    for (const mode of ['live', 'test'] as const) {
      wallet = await seedWallet(given.context, { workspace: seeded.workspace, mode })
      await insert(mode, wallet)
    }
  })
  after(() => given.close())

  test('deposits are listed newest first, and a page continues where the previous one ended', async () => {
    const first = await list(null)
    assert.deepEqual(first, [idOf('test', ROWS), idOf('test', ROWS - 1)])
    assert.deepEqual(await list(first[1] ?? null), [idOf('test', ROWS - 2), idOf('test', ROWS - 3)])
    assert.deepEqual(await list(idOf('test', 1)), [])
  })

  for (const [name, index] of [
    ['all', 'deposits_listed'],
    ['those of a wallet', 'deposits_of_wallet'],
  ] as const) {
    test(`deposits (${name}) are read with the index ${index}, and no rows beyond the page are read`, async () => {
      const query = listDepositRows({
        ...place('test'),
        wallet: name === 'all' ? null : wallet,
        before: null,
        limit: 51,
      })
      const plan = await readPlan(given.context.db, ['deposits'], query)
      assert.match(plan, new RegExp(`^Limit\\n.*Index Scan Backward using ${index}\\b`))
    })
  }

  function place(mode: Mode) {
    return { workspaceId: seeded.workspace.id, mode }
  }

  async function list(before: string | null): Promise<string[]> {
    const deposits = await listDeposits(given.context, { ...place('test'), wallet: null, before, limit: 2 })
    return deposits.map(({ id }) => id)
  }

  async function insert(mode: Mode, to: Address): Promise<void> {
    await readRows(
      given.context.db,
      `insert into deposits (workspace_id, id, mode, wallet_address, from_address, amount_micro, tx_hash, position,
          block_number, block_hash, created_at)
        select $1, $2 || lpad(i::text, 21, '0'), $3, $4, $4, 1, '0x' || lpad(to_hex(i), 64, '0'), 0, 1, 'h', $5
        from generate_series(1, $6::integer) i`,
      [seeded.workspace.id, `dep_01J0${mode === 'test' ? 0 : 1}`, mode, to, given.clock.now(), ROWS],
    )
  }
})

function idOf(mode: Mode, number: number): string {
  return `dep_01J0${mode === 'test' ? 0 : 1}${String(number).padStart(21, '0')}`
}
