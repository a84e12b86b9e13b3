import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo } from '../support/browser/sign-up-over-http.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { button, openConsent, openOverview, showPage } from '../support/browser/pages.ts'
import { call } from '../support/http-client.ts'
import { startClientApp, type ClientApp } from '../support/sandbox/client-app.ts'
import { waitFor } from '../support/wait-for.ts'
import { postToConsole } from './owner-steps.ts'

const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'
/** The name that the sandbox gives to wallets. */
const WALLET_NAME = 'Wallet'
const IMPOSSIBLE = 'No payments are possible'
const DAY_MS = 24 * 60 * 60_000

/** The pages must show whether an agent can pay now, and what an owner allows. */
describe('the state of agents and grants, as the dashboard shows it', () => {
  let fixture: BrowserFixture
  let app: ClientApp
  let page: Page
  before(async () => {
    fixture = await openBrowserFixture()
    app = await startClientApp(fixture.host)
    const person = await fixture.enter()
    ;({ page } = person)
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    await openOverview(page, fixture.host.workspace)
    await addAgent('limited-bot', { recipient_allowlist: [RECIPIENT] })
    const stopped = await addAgent('stopped-bot', {})
    await fixture.host.control(`/grants/${stopped}/suspend`, {})
    const late = await addAgent('late-bot', {})
    await fixture.query('update grants set expires_at = now() where id = $1', [late])
    await addAgent('new-bot', { sign: false })
    await postToConsole(page, 'recipients', { mode: 'test', address: RECIPIENT, label: 'A paper mill' })
    const { test: wallet } = fixture.host.workspace.wallets
    // Until then, the pages do not say how much can be spent.
    await waitFor(
      'the balance is read',
      async () =>
        (await fixture.query('select 1 from wallet_balances where wallet_address = $1', [wallet])).length === 1,
    )
  })
  afterEach((t) => fixture.explain(t))
  after(async () => {
    await fixture.leave()
    await app.close()
  })

  const labels = [
    ['limited-bot', 'Active'],
    ['stopped-bot', 'Suspended'],
    ['late-bot', 'Expired'],
    ['new-bot', 'Awaiting signature'],
  ] as const

  test('only an agent that can pay is called active, and only it has something remaining', async () => {
    await page.goto(at('agents'))
    for (const [id, label] of labels) {
      const row = page.getByRole('row').filter({ hasText: id })
      await row.getByText(label, { exact: true }).waitFor()
      assert.equal(await row.getByText('100.00 USDC from').count(), label === 'Active' ? 1 : 0, id)
    }
    for (const [id, label] of labels) {
      await showPage(page, fixture.host.workspace, `agents/${id}`)
      const main = page.getByRole('main')
      await main
        .getByText(label === 'Active' ? 'USDC remaining' : '24-hour limit')
        .first()
        .waitFor()
      assert.equal(await main.getByText(label, { exact: true }).count(), 2, `the badges of ${id} and its grant`)
      assert.equal(await main.getByText('Active', { exact: true }).count(), label === 'Active' ? 2 : 0, id)
      assert.equal(await main.getByText('remaining').count(), label === 'Active' ? 1 : 0, id)
      if (id === 'stopped-bot') await inspectPage(page, 'agent-suspended')
    }
  })

  test('the overview shows nothing as remaining on a grant that is suspended or expired', async () => {
    await showPage(page, fixture.host.workspace, '')
    const limits = page.getByRole('region', { name: '24-hour limits' }).getByRole('listitem')
    for (const [id, label] of labels.slice(0, 3)) {
      const item = limits.filter({ hasText: id })
      const [shown, hidden] = label === 'Active' ? ['USDC remaining', IMPOSSIBLE] : [IMPOSSIBLE, 'USDC remaining']
      await item.getByText(shown).waitFor()
      assert.equal(await item.getByText(hidden).count(), 0, id)
    }
  })

  test('the consent page names the wallet, its limits and the recipients of the chosen agent', async () => {
    await openConsent(page, app.start({ agent_id: 'limited-bot' }).url)
    const wallet = page.getByRole('list', { name: 'Wallets and limits of limited-bot' }).getByRole('listitem').first()
    const { wallets } = fixture.host.workspace
    const short = `${wallets.test.slice(0, 6)}…${wallets.test.slice(-4)}`
    assert.equal(await wallet.locator('bdi').first().innerText(), WALLET_NAME)
    for (const text of [short, 'Per-payment limit', '24-hour limit', 'Only to this recipient:']) {
      await wallet.getByText(text, { exact: true }).first().waitFor()
    }
    const recipients = wallet.getByRole('list', { name: 'Recipients' })
    assert.deepEqual(await recipients.getByRole('listitem').allInnerTexts(), [`A paper mill\n${RECIPIENT}`])
    await wallet.getByText('The grant has no end date.').waitFor()
    await inspectPage(page, 'consent-recipients')

    const agents = page.getByLabel('Agent', { exact: true })
    await agents.selectOption('stopped-bot')
    await page.getByText('“stopped-bot” can’t spend now, because its grant is suspended.').waitFor()
    const stopped = page.getByRole('list', { name: 'Wallets and limits of stopped-bot' }).getByRole('listitem')
    await stopped.getByText('Suspended', { exact: true }).waitFor()
    await stopped.getByText('any recipient').waitFor()
    assert.equal(await stopped.getByText('Left of it now').count(), 0)
    await inspectPage(page, 'consent-suspended')
    await agents.selectOption('late-bot')
    await page.getByText('“late-bot” can’t spend now, because its grant has expired.').waitFor()
    await page.getByText('The grant expired on').waitFor()
    assert.equal(await page.getByText('Left of it now').count(), 0)
  })

  test('a new grant ends in 30 days, and asks for its recipients', async () => {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`${at('grants/new')}?agent=fresh-bot`)
    const radio = (name: string) => page.getByRole('radio', { name, exact: true })
    await radio('In 30 days').waitFor()
    assert.deepEqual(await Promise.all(['In 30 days', 'Any recipient'].map((name) => radio(name).isChecked())), [
      true,
      false,
    ])
    await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'New agent…' })
    await page.getByLabel('New agent ID').fill('fresh-bot')
    await page.getByLabel('Per-payment limit').fill('1')
    await page.getByLabel('24-hour limit').fill('5')
    await button(page, 'Review and sign').or(button(page, 'Create grant')).click()
    await page.getByText('Enter at least one recipient, or choose “Any recipient”.').waitFor()
    await inspectPage(page, 'grant-new-no-recipient')
    await page.getByText('Any recipient', { exact: true }).click()
    await page.getByText('The agent can pay any address, up to its limits.').waitFor()
    await inspectPage(page, 'grant-new-any-recipient')
    await button(page, 'Review and sign').or(button(page, 'Create grant')).click()
    await page.getByRole('heading', { level: 1, name: 'Grant for fresh-bot' }).waitFor()
    const path = `/console/workspaces/${fixture.host.workspace.slug}/grants?mode=test&agent=fresh-bot`
    const { grants } = (await (await page.request.get(path)).json()) as { grants: readonly WireGrant[] }
    const [grant] = grants
    assert.deepEqual(grant?.recipient_allowlist, [])
    const days = (new Date(grant?.expires_at ?? '').getTime() - Date.now()) / DAY_MS
    assert.ok(days > 29.9 && days < 30.1, `${days} days`)
  })

  function at(path: string): string {
    return `/w/${fixture.host.workspace.slug}/test/${path}`
  }

  /** Creates an agent with a grant on the workspace's wallet. Returns the grant's id. */
  async function addAgent(id: string, terms: object): Promise<string> {
    const { host } = fixture
    const { keys, wallets, slug } = host.workspace
    await call(host.baseUrl, 'POST', '/v1/agents', { key: keys.test, body: { id } })
    const limits = { max_per_tx_usdc: '10', daily_cap_usdc: '100' }
    const grant = { mode: 'test', wallet: wallets.test, agent_id: id, ...limits, ...terms }
    return (await host.control(`/workspaces/${slug}/grants`, grant)).grant.id
  }
})

interface WireGrant {
  readonly recipient_allowlist: readonly string[]
  readonly expires_at: string | null
}
