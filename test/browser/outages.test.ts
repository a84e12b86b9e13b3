import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addressesFrom } from '../../sandbox/src/addresses.ts'
import { openBrowser } from '../support/browser/browser-fixture.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { openPerson, type Person } from '../support/browser/launch-browser.ts'
import { explainFailure } from '../support/browser/page-history.ts'
import { button, heading, signUp } from '../support/browser/pages.ts'
import { openSandboxFixture, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { startTcpProxy, type TcpProxy } from '../support/wires/tcp-proxy.ts'
import { goTo } from './owner-steps.ts'

/** How long a banner may take to appear or disappear. The page checks every 15 seconds, the server every 5 seconds. */
const BANNER_MS_MAX = 45_000

describe('outages, as the dashboard shows them', () => {
  let fixture: OwnSandboxFixture
  let chain: TcpProxy | undefined
  let person: Person
  let page: Page
  before(async () => {
    fixture = await openSandboxFixture({
      serverEnv: async (port) => {
        chain = await startTcpProxy(addressesFrom(port).rpcUrls.test)
        return { TEST_RPC_URLS: chain.url }
      },
    })
    person = await openPerson(await openBrowser(), { baseURL: fixture.sandbox.facts.auth_url })
    ;({ page } = person)
    await signUp(page, 'Ada Lovelace')
    await page.getByLabel('Workspace name').fill('Outages')
    await button(page, 'Create workspace').click()
    await heading(page, 'Overview').waitFor()
  })
  afterEach((t) => explainFailure(t, [person]))
  after(async () => {
    await person.close()
    await fixture.close()
    await chain?.close()
    assert.deepEqual(person.faults, [])
  })

  test('a banner says what does not work in the mode, and what does, and disappears by itself', async () => {
    const banner = page.getByRole('main').getByRole('status')
    const ofChain = banner.filter({ hasText: 'The blockchain of test mode can’t be reached.' })
    const ofEnclave = banner.filter({ hasText: 'The enclave, which holds the wallets’ keys, can’t be reached.' })
    assert.equal(await banner.filter({ hasText: 'can’t be reached' }).count(), 0)
    chain?.cut()
    fixture.enclave.cut()
    await ofChain.waitFor({ timeout: BANNER_MS_MAX })
    await ofEnclave.waitFor({ timeout: BANNER_MS_MAX })
    await banner.getByText('New payments are rejected. Balances are unknown.').waitFor()
    await banner.getByText('Owners can’t sign, so new grants can’t take effect.').waitFor()
    await banner.getByText('You can still suspend grants').waitFor()
    await goTo(page, 'Wallets')
    await inspectPage(page, 'outages')
    await page.setViewportSize({ width: 1280, height: 900 })

    const modes = page.getByRole('navigation', { name: 'Mode' })
    await modes.getByRole('link', { name: 'Live' }).click()
    await page.getByText('Live mode: real money').waitFor()
    await ofChain.waitFor({ state: 'detached' })
    await ofEnclave.waitFor()
    await modes.getByRole('link', { name: 'Test' }).click()
    await ofChain.waitFor()

    fixture.enclave.restore()
    chain?.restore()
    for (const ended of [ofChain, ofEnclave]) await ended.waitFor({ state: 'detached', timeout: BANNER_MS_MAX })
  })
})
