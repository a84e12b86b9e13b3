import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addWalletOwner, seedOwner } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { createEmptyWorkspace } from '../workspaces/create-empty-workspace.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { listOpenOwnerRequests } from './owner-requests-store.ts'

describe('listOpenOwnerRequests', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('finds the changes that are not recorded, and does not read through the withdrawals of the wallet', async () => {
    const { context: ctx } = given
    const workspace = await createEmptyWorkspace(ctx, { name: 'Requests', plan: 'scale', actor: OPERATOR })
    const { userId } = await seedOwner(ctx, workspace)
    const { credentialId } = await addWalletOwner(ctx, userId)
    const place = { workspaceId: workspace.id, mode: 'test' } as const
    const wallet = await createWallet(ctx, { ...place, name: 'W', credentialId, actor: OPERATOR })
    await readRows(
      ctx.db,
      `insert into owner_requests (workspace_id, id, mode, wallet_address, kind, details, expires_at, created_at)
        select $1, 'owr_' || number, 'test', $2, case when number % 1000 = 0 then 'add_owner' else 'withdraw' end, '{}',
          now() + interval '1 minute', now()
        from generate_series(1, 3000) number`,
      [workspace.id, wallet.address],
    )
    const query = listOpenOwnerRequests(wallet, 10)
    assert.deepEqual(
      (await ctx.db.read(query)).map(({ id }) => id),
      ['owr_3000', 'owr_2000', 'owr_1000'],
    )
    assert.match(await readPlan(ctx.db, ['owner_requests'], query), /Index Scan.* using owner_requests_open/)
  })
})
