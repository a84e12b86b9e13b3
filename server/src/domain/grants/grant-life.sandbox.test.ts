import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { SoftwarePasskey } from '../../../../sandbox/src/passkey/software-passkey.ts'
import {
  APP_ID,
  APP_SECRET,
  makeDataDir,
  removeDataDir,
  startTestEnclave,
  type TestEnclave,
} from '../../../../sandbox/test/support/test-enclave.ts'
import { readAudit } from '../../../../test/support/audit.ts'
import { makePasskey, seedOwner } from '../../../../test/support/people.ts'
import { listEventTypes, readRows } from '../../../../test/support/read-rows.ts'
import { agent } from '../../../../test/support/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/test-context.ts'
import { microUsdc } from '../../values/money.ts'
import { createAccount } from '../accounts/create-account.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { createAgent } from '../agents/create-agent.ts'
import type { Context } from '../context.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import type { SignerChange } from './grant.ts'
import { issueSigningRequest } from './issue-signing-request.ts'
import { openGrant } from './open-grant.ts'
import { submitSignature } from './submit-signature.ts'
import { suspendGrant } from './suspend-grant.ts'

/** Wallets, signers and policies need no chain. */
const NO_CHAIN = 'http://127.0.0.1:9'

describe('the life of a grant, with the enclave of the sandbox', () => {
  let dataDir: string
  let enclave: TestEnclave
  let given: TestContext
  let ctx: Context
  before(async () => {
    dataDir = await makeDataDir()
    enclave = await startTestEnclave({ dataDir, rpcUrl: NO_CHAIN })
    const wire = { apiUrl: enclave.url, appId: APP_ID, appSecret: APP_SECRET }
    given = await openTestContext((config) => ({ ...config, enclave: wire }))
    ctx = given.context
  })
  after(async () => {
    await given.close()
    await enclave.stop()
    await removeDataDir(dataDir)
  })

  test('each step of it is one row of the log, by whoever took it', async () => {
    const { accountId, grantId, wallet, owner, actor, grant } = await open()
    await sign(accountId, grantId, 'activate', owner, actor)
    await Promise.all(Array.from({ length: 3 }, () => suspendGrant(ctx, { accountId, grantId, actor })))
    await sign(accountId, grantId, 'revoke', owner, actor)
    await assert.rejects(suspendGrant(ctx, { accountId, grantId, actor }), { status: 409, code: 'grant_revoked' })

    const rows = (await readAudit(ctx.db, accountId)).slice(2)
    const by = { actor_kind: 'user', actor_id: actor.id }
    const details = { mode: 'test', agent_id: 'payer', wallet }
    assert.deepEqual(rows, [
      { ...by, action: 'wallet.created', subject: wallet, details: { mode: 'test', name: 'Treasury' } },
      { ...by, action: 'agent.created', subject: 'payer', details: { mode: 'test' } },
      { ...by, action: 'grant.opened', subject: grantId, details },
      { ...by, action: 'grant.activated', subject: grantId, details },
      { ...by, action: 'grant.suspended', subject: grantId, details },
      { ...by, action: 'grant.revoked', subject: grantId, details },
    ])
    assert.deepEqual(await listEventTypes(ctx.db, accountId), ['permission.granted', 'permission.revoked'])
    assert.equal(grant.status, 'pending')
  })

  test('a grant that is dropped before it was signed is one row too', async () => {
    const { accountId, grantId, actor } = await open()
    const dropped = await issueSigningRequest(ctx, { accountId, grantId, change: 'revoke', actor })
    assert.equal(dropped.grant.status, 'revoked')
    const last = (await readAudit(ctx.db, accountId)).at(-1)
    assert.deepEqual([last?.['action'], last?.['actor_id']], ['grant.revoked', actor.id])
  })

  test('an activation whose row can not be written is not made, nor told; it is made when tried again', async () => {
    const { accountId, grantId, owner, actor } = await open()
    const check = "add constraint broken check (action <> 'grant.activated') not valid"
    await readRows(ctx.db, `alter table audit_entries ${check}`)
    await assert.rejects(sign(accountId, grantId, 'activate', owner, actor), /broken/)
    const rows = await readRows(ctx.db, 'select status from grants where id = $1', [grantId])
    assert.equal(rows[0]?.['status'], 'pending')
    assert.deepEqual(await listEventTypes(ctx.db, accountId), [])
    await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
    const again = await issueSigningRequest(ctx, { accountId, grantId, change: 'activate', actor })
    assert.equal(again.grant.status, 'active')
    assert.deepEqual(await listEventTypes(ctx.db, accountId), ['permission.granted'])
  })

  test('an unknown grant can not be suspended', async () => {
    const { accountId, actor } = await open()
    for (const grantId of ['', 'grt_', `grt_${'0'.repeat(26)}`]) {
      await assert.rejects(suspendGrant(ctx, { accountId, grantId, actor }), { status: 404 })
    }
  })

  async function open() {
    const account = await createAccount(ctx, { name: 'Grants', plan: 'developer' })
    const { userId } = await seedOwner(ctx, account)
    const actor = { kind: 'user', id: userId } as const satisfies Actor
    const owner = makePasskey(ctx, randomBytes(32).toString('base64url'))
    const place = { accountId: account.id, mode: 'test' } as const
    const { address } = await createWallet(ctx, { ...place, name: 'Treasury', owner, actor })
    const agentId = agent('payer')
    await createAgent(ctx, { ...place, id: agentId, actor })
    await createAgent(ctx, { ...place, id: agentId, actor })
    const terms = {
      maxPerTxMicro: microUsdc(1n),
      dailyCapMicro: microUsdc(1n),
      recipientAllowlist: [],
      expiresAt: null,
    }
    const grant = await openGrant(ctx, { ...place, agentId, wallet: address, ...terms, actor })
    return { accountId: account.id, grantId: grant.id, wallet: address, owner, actor, grant }
  }

  async function sign(
    accountId: string,
    grantId: string,
    change: SignerChange,
    owner: SoftwarePasskey,
    actor: Actor,
  ): Promise<void> {
    const request = await issueSigningRequest(ctx, { accountId, grantId, change, actor })
    assert.ok(request.challenge !== null)
    await submitSignature(ctx, { accountId, grantId, assertion: owner.assert(request.challenge), actor })
  }
})
