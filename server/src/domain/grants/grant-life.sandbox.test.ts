import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { openSandboxEnclave } from '../../../../test/support/context/enclave-context.ts'
import {
  changeUnsigned,
  openOwned,
  openPending,
  readFates,
  signAndCrash,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { listEventTypes } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { formatGrant } from './format-grant.ts'
import type { Grant } from './grant.ts'
import { suspendGrant } from './suspend-grant.ts'

describe('the life of a grant, with the enclave of the sandbox', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    const { use } = await openSandboxEnclave()
    given = await openTestContext(use)
    ctx = given.context
  })
  after(() => given.close())

  test('each step writes one audit entry that names the actor', async () => {
    const { owned, grant, grantId } = await open()
    const { workspaceId, actor } = owned
    const wallet = owned.wallet.address
    await signChange(ctx, owned, { grantId, change: 'activate' })
    await Promise.all(Array.from({ length: 3 }, () => suspendGrant(ctx, { workspaceId, grantId, actor })))
    await signChange(ctx, owned, { grantId, change: 'revoke' })
    await assert.rejects(suspendGrant(ctx, { workspaceId, grantId, actor }), { status: 409, code: 'grant_revoked' })

    const rows = (await readAudit(ctx.db, workspaceId)).slice(3)
    const by = { actor_kind: 'user', actor_id: actor.id }
    const details = { mode: 'test', agent_id: 'payer', wallet }
    assert.deepEqual(rows, [
      {
        ...by,
        action: 'wallet.created',
        subject: wallet,
        details: { mode: 'test', name: 'Treasury', credential_id: owned.owner.credentialId },
      },
      { ...by, action: 'agent.created', subject: 'payer', details: { mode: 'test' } },
      { ...by, action: 'grant.opened', subject: grantId, details },
      { ...by, action: 'grant.activated', subject: grantId, details: { ...details, terms: termsOf(grant) } },
      { ...by, action: 'grant.suspended', subject: grantId, details },
      { ...by, action: 'grant.revoked', subject: grantId, details },
    ])
    const types = ['permission.granted', 'permission.revoked', 'permission.suspended']
    assert.deepEqual(await listEventTypes(ctx.db, workspaceId), types)
    assert.equal(grant.status, 'pending')
  })

  test('dropping a grant before it was signed writes one audit entry', async () => {
    const { owned, grantId } = await open()
    const dropped = await changeUnsigned(ctx, owned, { grantId, change: 'revoke' })
    assert.equal(dropped.status, 'revoked')
    const last = (await readAudit(ctx.db, owned.workspaceId)).at(-1)
    assert.deepEqual([last?.['action'], last?.['actor_id']], ['grant.revoked', owned.actor.id])
  })

  test('if its audit entry cannot be written, an activation is not recorded and sends no event; a retry records it', async () => {
    const { owned, grant, grantId } = await open()
    await signAndCrash(ctx, owned, { grantId, change: 'activate' })
    assert.deepEqual(await readFates(ctx, owned, [grant]), [['pending', null]])
    assert.deepEqual(await listEventTypes(ctx.db, owned.workspaceId), [])
    const again = await changeUnsigned(ctx, owned, { grantId, change: 'activate' })
    assert.equal(again.status, 'active')
    assert.deepEqual(await listEventTypes(ctx.db, owned.workspaceId), ['permission.granted'])
  })

  test('an unknown grant cannot be suspended', async () => {
    const { workspaceId, actor } = (await open()).owned
    for (const grantId of ['', 'grt_', `grt_${'0'.repeat(26)}`]) {
      await assert.rejects(suspendGrant(ctx, { workspaceId, grantId, actor }), { status: 404 })
    }
  })

  /** Creates a grant that waits for its signature. */
  async function open(): Promise<{ owned: Owned; grant: Grant; grantId: string }> {
    const owned = await openOwned(ctx)
    const grant = await openPending(ctx, owned)
    return { owned, grant, grantId: grant.id }
  }
})

/** Returns the terms that the audit entry of an activation contains. */
function termsOf(grant: Grant) {
  const { max_per_tx_usdc, daily_cap_usdc, recipient_allowlist, contract_allowlist, expires_at, x402 } =
    formatGrant(grant)
  return { max_per_tx_usdc, daily_cap_usdc, recipient_allowlist, contract_allowlist, expires_at, x402 }
}
