import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createSoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { IssuedApiKey } from '../../server/src/console/contract/keys.ts'
import type { DepositPage, Wallet } from '../../server/src/console/contract/wallets.ts'
import type { Workspace, WorkspaceDetail } from '../../server/src/console/contract/workspaces.ts'
import { Browser } from '../console/browser.ts'
import { signUp } from '../console/person.ts'
import { call } from '../support/http-client.ts'
import { waitFor } from '../support/wait-for.ts'
import { openClockFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

/** The maximum age of a balance that the service shows. */
const BALANCE_SNAPSHOT_SECONDS = 1

describe('the first wallet of a new workspace, in the sandbox', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openClockFixture()
  })

  test('is made under the visitor’s wallet passkey, filled by the faucet, and there for the API', async () => {
    const authUrl = fixture.sandbox.facts.auth_url
    const relyingParty = { id: new URL(authUrl).hostname, origin: authUrl }
    const browser = new Browser({ url: authUrl, config: { authUrl } })
    const { userId } = await signUp({ context: { relyingParty } }, browser)
    const named = await browser.ask<{ workspace: Workspace }>('POST', '/console/workspaces', { name: 'New' }, 201)
    const at = (path: string) => `/console/workspaces/${named.workspace.slug}${path}`

    const { workspace } = await browser.ask<{ workspace: WorkspaceDetail }>('GET', at(''))
    assert.deepEqual(workspace.chains.test.faucet, { kind: 'endpoint' })
    // The sandbox's chains have the ids of public chains. There is no explorer URL, because public explorers do not
    // show the sandbox's transactions.
    for (const { explorer_url: explorer } of Object.values(workspace.chains)) assert.equal(explorer, null)

    const wanted = { mode: 'test', name: 'W', credential_id: await addWalletPasskey(userId) }
    const { wallet } = await browser.ask<{ wallet: Wallet }>('POST', at('/wallets'), wanted, 201)
    assert.deepEqual([wallet.balance_usdc, wallet.owners[0]?.is_mine], ['0', true])
    type Given = { tx_hash: string }
    const given = await browser.ask<Given>('POST', at(`/wallets/${wallet.address}/faucet`), { mode: 'test' }, 201)

    await waitFor('the deposit is told', async () => {
      const rows = await fixture.query('select 1 from deposits where wallet_address = $1', [wallet.address])
      return rows.length > 0
    })
    const path = `${at('/deposits')}?mode=test&wallet=${wallet.address}`
    const { deposits } = await browser.ask<DepositPage>('GET', path)
    assert.deepEqual(
      deposits.map(({ amount_usdc: amount, tx_hash: hash }) => [amount, hash]),
      [['100', given.tx_hash]],
    )
    await fixture.advanceClock(BALANCE_SNAPSHOT_SECONDS)
    const shown = await browser.ask<{ wallet: Wallet }>('GET', `${at(`/wallets/${wallet.address}`)}?mode=test`)
    assert.equal(shown.wallet.balance_usdc, '100')
    const { secret } = await browser.ask<IssuedApiKey>('POST', at('/keys'), { mode: 'test', name: 'First' }, 201)
    assert.equal((await call(workspace.base_url, 'GET', '/v1/me', { key: secret })).status, 200)
  })

  /** Adds a wallet passkey to the visitor's account, and returns its credential id. */
  async function addWalletPasskey(userId: string): Promise<string> {
    const { credentialId, publicKeyCose } = createSoftwarePasskey({ rpId: 'signer.localhost', origin: 'http://x' })
    await fixture.query(
      `insert into wallet_passkeys (credential_id, user_id, public_key, name, transports, created_at)
        values ($1, $2, $3, 'Wallet passkey', '{}', now())`,
      [credentialId, userId, Buffer.from(publicKeyCose)],
    )
    return credentialId
  }
})
