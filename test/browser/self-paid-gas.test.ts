import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import type { SandboxFacts } from '../../sandbox/src/state/sandbox-facts.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { call } from '../support/http-client.ts'
import { openOwnBrowserFixture, type OwnBrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo } from '../support/browser/sign-up-over-http.ts'
import { openUsdcChain, type UsdcChain } from '../support/sandbox/usdc-chain.ts'
import { waitFor } from '../support/wait-for.ts'

const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'
/** 0.15 native coins, in wei. */
const COINS = `0x${(15n * 10n ** 16n).toString(16)}`

describe('a server with TEST_GAS=self, on a real chain', () => {
  let fixture: OwnBrowserFixture
  let chain: UsdcChain
  before(async () => {
    fixture = await openOwnBrowserFixture({ TEST_GAS: 'self' })
    const facts = JSON.parse(await readFile(join(fixture.host.dataDir, 'sandbox.json'), 'utf8')) as SandboxFacts
    chain = openUsdcChain(facts.chains.test)
  })
  afterEach((t) => fixture.explain(t))
  after(async () => {
    await fixture.leave()
    await fixture.close()
  })

  const pay = async () => {
    const { keys, wallets, agent_id: agentId } = fixture.host.workspace
    const body = { agent_id: agentId, wallet: wallets.test, to: RECIPIENT, amount_usdc: '1' }
    return await call(fixture.host.baseUrl, 'POST', '/v1/payments', { key: keys.test, body })
  }

  test('an owner sees why a wallet without native coins cannot pay, sends it some, and it pays', async () => {
    const person = await fixture.enter()
    const { page } = person
    const { wallets } = fixture.host.workspace
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    const refused = await pay()
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_gas'])

    // The service stores a rejected request a moment after its response.
    const id = await waitFor('the refusal', async () => {
      const answer = await page.request.get(`/console/workspaces/${fixture.host.workspace.slug}/refusals?mode=test`)
      return ((await answer.json()) as { refusals: readonly { id: string }[] }).refusals[0]?.id
    })
    await page.goto(`/w/${fixture.host.workspace.slug}/test/refusals/${id}`)
    await page.getByText('Needed for one payment').waitFor()
    await page.getByText('0 ETH').waitFor()
    await inspectPage(page, 'refusal-gas')

    await page.getByRole('link', { name: 'View wallet' }).click()
    const gas = page.getByRole('region', { name: 'Native coin' })
    await gas.getByText('0 ETH').waitFor()
    await inspectPage(page, 'wallet-gas')
    await chain.call('anvil_setBalance', [wallets.test, COINS])
    await page.reload()
    await gas.getByText('0.15 ETH').waitFor()

    const paid = await pay()
    assert.equal(paid.status, 201, paid.text)
    await page.goto(`/w/${fixture.host.workspace.slug}/test/payments/${paid.body.payment.id}`)
    await page.getByRole('main').getByText('Confirmed', { exact: true }).first().waitFor()
    // In live mode, gas is still sponsored.
    await page.goto(`/w/${fixture.host.workspace.slug}/live/wallets/${wallets.live}`)
    await page.getByRole('region', { name: 'Balance' }).waitFor()
    assert.equal(await gas.count(), 0)
  })
})
