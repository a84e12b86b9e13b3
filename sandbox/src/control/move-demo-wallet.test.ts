import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Account } from '../../../server/src/domain/accounts/account.ts'
import { createAgent } from '../../../server/src/domain/agents/create-agent.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../../server/src/domain/context.ts'
import { listLiveGrants } from '../../../server/src/domain/grants/grants-store.ts'
import { getWalletRecord } from '../../../server/src/domain/owners/get-wallet-record.ts'
import { findWallet } from '../../../server/src/domain/wallets/wallets-store.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import { openSandboxEnclave } from '../../../test/support/context/enclave-context.ts'
import { createLegacyWallet, type LegacyWallet } from '../../../test/support/context/owner-fixture.ts'
import { agent } from '../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import type { SandboxState } from '../state/sandbox-state.ts'
import type { ControlContext } from './control-context.ts'
import { moveDemoWallet } from './move-demo-wallet.ts'
import { createOwnedWorkspace, ownerOf } from './owners.ts'

const TERMS = { maxPerTxMicro: microUsdc(1_000_000n), dailyCapMicro: microUsdc(2_000_000n) }
const MODE = 'test'

describe('a demo wallet from before there were wallet passkeys', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('is moved at the start, its record is signed and its grant is opened again, once', async () => {
    const { control, account, legacy, start } = await openLegacyDemo('demo one')
    await start()
    await expectMoved({ account, legacy })
    const grants = await countGrants(legacy)
    await start()
    assert.equal(await countGrants(legacy), grants)
    assert.equal(control.state.current.demo[MODE]?.needsGrant, undefined)
  })

  test('gets its grant at the next start if the sandbox stopped after the move', async () => {
    const { account, legacy, start } = await openLegacyDemo('demo two')
    await readRows(ctx.db, `alter table audit_entries add constraint broken check (action <> 'grant.opened') not valid`)
    try {
      await assert.rejects(start(), /broken/)
    } finally {
      await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
    }
    await start()
    await expectMoved({ account, legacy })
  })

  test('of a passkey that the sandbox does not have is left alone', async () => {
    const { control, account, legacy, start } = await openLegacyDemo('demo three')
    const { owners } = control.state.current
    const [other] = Object.values(owners)
    assert.ok(other !== undefined)
    control.state.update({ owners: { ...owners, [account.slug]: { ...other, credentialId: 'AAAA' } } })
    await start()
    assert.ok((await findNow(account, legacy))?.signInOwner)
  })

  /** Creates a workspace of the sandbox's owner with a wallet that the owner's sign-in passkey owns. */
  async function openLegacyDemo(name: string) {
    const control = { context: ctx, state: makeState() } as unknown as ControlContext
    const account = await createOwnedWorkspace(control, { name, plan: 'developer' })
    const agentId = agent('demo-agent')
    await createAgent(ctx, { accountId: account.id, mode: MODE, id: agentId, actor: OPERATOR })
    const place = { accountId: account.id, mode: MODE, agentId } as const
    const legacy = await createLegacyWallet(ctx, place, ownerOf(control, account.slug))
    const demo = { key: 'key', wallet: legacy.wallet.address }
    control.state.update({ demo: { [MODE]: demo } })
    const start = () => moveDemoWallet(control, { account, mode: MODE, demo, agentId, terms: TERMS })
    return { control, account, legacy, start }
  }

  async function expectMoved({ account, legacy }: { account: Account; legacy: LegacyWallet }): Promise<void> {
    const wallet = await findNow(account, legacy)
    assert.ok(wallet !== null && wallet.signInOwner === null)
    const { address } = wallet
    const record = await getWalletRecord(ctx, { accountId: account.id, mode: MODE, address })
    assert.equal(record.assertions.length, 1)
    const filter = { agentId: agent('demo-agent'), limit: 5 }
    const live = await ctx.db.runRelaxed(listLiveGrants(account.id, MODE, filter))
    assert.deepEqual(
      live.map(({ status, maxPerTxMicro }) => [status, maxPerTxMicro]),
      [['active', TERMS.maxPerTxMicro]],
    )
  }

  async function countGrants({ wallet }: LegacyWallet): Promise<number> {
    return (await readRows(ctx.db, 'select id from grants where wallet_address = $1', [wallet.address])).length
  }

  function findNow(account: Account, { wallet }: LegacyWallet) {
    return ctx.db.runRelaxed(findWallet(account.id, MODE, wallet.address))
  }
})

/** A state that is kept in memory only. */
function makeState(): ControlContext['state'] {
  let current = { version: 1, owners: {}, grants: {}, demo: {}, clockOffsetMs: 0 } as unknown as SandboxState
  return {
    get current() {
      return current
    },
    update: (change) => {
      current = { ...current, ...change }
    },
  }
}
