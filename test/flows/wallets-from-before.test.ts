import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { readConfig } from '../../server/src/config.ts'
import { signerSealContext } from '../../server/src/domain/agents/signer-seal-context.ts'
import { slotSealContext } from '../../server/src/domain/wallets/slot-seal-context.ts'
import { createSealer } from '../../server/src/lib/sealing.ts'
import { call } from '../support/http-client.ts'
import { createPayer, makeAgent, pay, waitForRecord, type PayerFixture } from '../support/sandbox/payer-fixture.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

describe('a wallet from before there were slots', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openSharedSandboxFixture()
  })

  test('continues to pay, can be suspended, and is told to be moved before anything else changes', async () => {
    const payer = await createLegacyPayer()
    const { slug, key, wallet, grantId } = payer
    const paid = await pay(fixture, payer)
    assert.equal(paid.status, 201, paid.text)
    const { id } = paid.body.payment
    await waitForRecord(fixture, id, 'confirmed')

    const terms = { max_per_tx_usdc: '1', daily_cap_usdc: '10' }
    const open = { mode: 'test', wallet, agent_id: await makeAgent(fixture, key), ...terms }
    for (const [path, body] of [
      [`/grants/${grantId}/revoke`, {}],
      [`/workspaces/${slug}/grants`, open],
    ] as const) {
      const refused = await call(fixture.sandbox.facts.control_url, 'POST', path, { body })
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'wallet_not_moved'], path)
    }
    assert.equal((await pay(fixture, payer)).status, 201)
    await fixture.control(`/grants/${grantId}/suspend`)
    const stopped = await pay(fixture, payer)
    assert.deepEqual([stopped.status, stopped.body.error.code], [404, 'permission_not_found'])
  })

  /**
   * Creates a payer, and changes our record of its wallet to the form that earlier versions stored: a sign-in passkey
   * is the owner, and the signer's key is stored with the agent, its policy with the grant. The enclave still has the
   * same signer under the same policy.
   */
  async function createLegacyPayer(): Promise<PayerFixture> {
    const payer = await createPayer(fixture)
    const { wallet, agentId, grantId } = payer
    const text =
      'select account_id, signer_id, enclave_policy_id, signer_private_key_sealed as sealed from wallet_slots'
    const [row] = await fixture.query(`${text} where wallet_address = $1 and slot = 1`, [wallet])
    const accountId = String(row?.['account_id'])
    const sealer = createSealer(readConfig(fixture.environment()).encryptionKey)
    const place = { accountId, mode: 'test', walletAddress: wallet } as const
    const privateKey = sealer.open(row?.['sealed'] as Buffer, slotSealContext(place, 1))
    const sealed = sealer.seal(privateKey, signerSealContext(accountId, 'test', agentId))
    await fixture.query(
      'update agents set signer_id = $3, signer_private_key_sealed = $4 where account_id = $1 and id = $2',
      [accountId, agentId, row?.['signer_id'], sealed],
    )
    await fixture.query('update grants set slot = null, enclave_policy_id = $2 where id = $1', [
      grantId,
      row?.['enclave_policy_id'],
    ])
    await fixture.query('delete from wallet_slots where wallet_address = $1', [wallet])
    await fixture.query('delete from wallet_owners where wallet_address = $1', [wallet])
    await fixture.query(
      `update wallets set owner_credential_id = 'sign-in passkey', owner_public_key = $2 where address = $1`,
      [wallet, Buffer.from([1])],
    )
    return payer
  }
})
