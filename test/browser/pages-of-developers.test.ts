import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { call } from '../support/http-client.ts'
import { expectOneLine } from '../support/browser/expect-one-line.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { button, openOverview, showPage } from '../support/browser/pages.ts'
import { startReceiver, type Receiver } from '../support/wires/receiver.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo } from '../support/browser/sign-up-over-http.ts'
import { readCode } from '../support/sandbox/client-app.ts'
import { connect, exchangeCode, registerClient, startAuthorization } from '../support/sandbox/oauth-client.ts'
import { waitFor } from '../support/wait-for.ts'
import { postToConsole } from './owner-steps.ts'

/** One page of each route. The inspections do not load the dashboard again for each page. */
const FIRST_PAGES = new Set([
  'keys',
  'webhooks',
  'webhook',
  'delivery',
  'events',
  'event',
  'examples',
  'connections',
  'plan',
])
const KINDS = ['payment.created', 'payment.confirmed', 'permission.granted']

describe('the pages for developers and of the workspace, in both themes and at every width', () => {
  let fixture: BrowserFixture
  let page: Page
  let receiver: Receiver
  const ids: Record<string, string> = {}
  before(async () => {
    fixture = await openBrowserFixture()
    receiver = await startReceiver()
    const person = await fixture.enter()
    ;({ page } = person)
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    await openOverview(page, fixture.host.workspace)
    await seed()
  })
  afterEach((t) => fixture.explain(t))
  after(async () => {
    await receiver.close()
    await fixture.leave()
  })

  const pages: readonly (readonly [name: string, path: () => string, title: string | RegExp])[] = [
    ['keys', () => 'developers/keys', 'API keys'],
    ['webhooks', () => 'developers/webhooks', 'Webhooks'],
    ['webhook', () => `developers/webhooks/${ids['webhook']}`, /localhost/],
    ['delivery', () => `developers/deliveries/${ids['delivery']}`, /^webhook\.test/],
    ['events', () => 'developers/events', 'Events'],
    ['event', () => `developers/events/${ids['event']}`, /^webhook\.test/],
    ['examples', () => 'developers/examples', 'Examples'],
    ['examples-typescript', () => 'developers/examples?in=typescript', 'Examples'],
    ['connections', () => 'developers/connections', 'Connections'],
    ['connections-chatgpt', () => 'developers/connections?host=chatgpt', 'Connections'],
    ['connections-vs-code', () => 'developers/connections?host=vs-code', 'Connections'],
    ['settings', () => 'settings', 'Settings'],
    ['plan', () => 'plan', 'Plan'],
  ]
  for (const [name, path, title] of pages) {
    test(name, async () => {
      await showPage(page, fixture.host.workspace, path())
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await inspectPage(page, name)
    })
  }

  for (const [name, path, title] of pages.filter(([name]) => FIRST_PAGES.has(name))) {
    test(`${name}, as the first page that the browser loads`, async () => {
      await page.goto(`/w/${fixture.host.workspace.slug}/test/${path()}`)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
    })
  }

  test('account', async () => {
    await page.goto('/account')
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()
    await inspectPage(page, 'account')
  })

  test('a key that is shown once, and the pages that are reached with the keyboard', async () => {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`/w/${fixture.host.workspace.slug}/test/developers/keys`)
    await button(page, 'Create a key').click()
    await page.getByLabel('Agent', { exact: true }).selectOption('demo-agent')
    await page.getByText('The key can pay as this agent only').waitFor()
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck()
    await page.getByText('Always included. Reads all agents').waitFor()
    await inspectPage(page, 'key-form')
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('checkbox', { name: 'Send USDC' }).check()
    await page.getByLabel('Key name').fill('Laptop')
    await page.keyboard.press('Enter')
    await page.getByLabel('API key', { exact: true }).waitFor()
    const secret = await page.getByLabel('API key', { exact: true }).inputValue()
    const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Laptop' })
    await row.getByText(`svc_test_…${secret.slice(-4)}`).waitFor()
    await row.getByText('Only as demo-agent: can read agents, payments and events, send USDC').waitFor()
    const { text } = await call(fixture.host.baseUrl, 'GET', '/v1/me', { key: secret })
    const me = JSON.parse(text) as Record<string, unknown>
    assert.deepEqual([me['agent_id'], me['scopes']], ['demo-agent', ['wallet:read', 'wallet:transfer']])
    await inspectPage(page, 'key-shown')
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('hook')
    await inspectPage(page, 'go-to')
    await page.keyboard.press('Enter')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave without it' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  })

  test('a failed connection is explained in words, and every host is reached with the keyboard', async () => {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`/w/${fixture.host.workspace.slug}/test/developers/connections`)
    const problem = page
      .getByRole('region', { name: 'Connections that failed' })
      .getByRole('listitem')
      .filter({ hasText: 'Broken helper' })
    await problem.getByText('its PKCE code verifier was wrong').waitFor()
    await problem.getByText('Start the connection again in the application.').waitFor()
    await problem.getByText(/just now|min ago/).waitFor()

    const section = page.getByRole('region', { name: 'Add to your agent' })
    const mcpUrl = `${fixture.host.baseUrl}/mcp`
    await section.getByText(`claude mcp add --transport http bursar ${mcpUrl}`, { exact: true }).waitFor()
    await section.getByRole('radio', { name: 'Claude Code' }).focus()
    const hosts: readonly (readonly [name: string, text: string | RegExp])[] = [
      ['Claude', 'Claude cannot reach this service.'],
      ['ChatGPT', 'ChatGPT cannot reach this service.'],
      ['Codex', /codex mcp add bursar --url/],
      ['Cursor', '~/.cursor/mcp.json'],
      ['VS Code', /code --add-mcp/],
      ['Other', /Streamable HTTP/],
    ]
    for (const [name, text] of hosts) {
      await page.keyboard.press('ArrowRight')
      await section.getByText(text).first().waitFor()
      assert.ok(await section.getByRole('radio', { name, exact: true }).isChecked(), name)
      if (name !== 'VS Code') continue
      for (const copy of await section.getByRole('button', { name: /^Copy/ }).all()) await expectOneLine(page, copy)
    }
    assert.ok(await section.getByRole('radio', { name: 'Other' }).isChecked())
    await page.reload()
    await section.getByText(/Streamable HTTP/).waitFor()
    assert.ok(await section.getByRole('radio', { name: 'Other' }).isChecked(), 'the address of the page names the host')
    await section.getByText('Use an API key instead of signing in').click()
    await section.getByText('Bearer YOUR_API_KEY').waitFor()
  })

  test('on a phone, the menu leads to every page, and can be closed', async () => {
    await page.setViewportSize({ width: 375, height: 900 })
    await page.goto(`/w/${fixture.host.workspace.slug}/test/plan`)
    await button(page, 'Menu').click()
    const menu = page.getByRole('navigation', { name: 'Pages of demo' })
    await menu.getByRole('link', { name: 'Audit log' }).waitFor()
    await inspectPage(page, 'menu')
    await page.setViewportSize({ width: 375, height: 900 })
    await menu.getByRole('link', { name: 'Audit log' }).click()
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
    await menu.waitFor({ state: 'hidden' })
  })

  /**
   * Creates a key, an endpoint that responds with errors, deliveries to this endpoint, a connection, and a failed
   * attempt to connect.
   */
  async function seed(): Promise<void> {
    await connect(fixture.host)
    const clientId = await registerClient(fixture.host, { client_name: 'Broken helper' })
    const authorization = startAuthorization(fixture.host, clientId)
    const callback = await fixture.host.consent(authorization.url)
    const wrong = { ...authorization, verifier: 'a'.repeat(43) }
    const { error } = await exchangeCode(fixture.host, wrong, readCode(fixture.host, authorization, callback))
    assert.equal(error, 'invalid_grant')
    receiver.reply((response) => response.writeHead(503).end('{"error":"busy"}'))
    const answer = await postToConsole<{ webhook: { id: string } }>(page, 'webhooks', {
      mode: 'test',
      url: receiver.url,
      events: KINDS,
    })
    ids['webhook'] = answer.webhook.id
    const { delivery } = await postToConsole<{ delivery: { id: string; event_id: string } }>(
      page,
      `webhooks/${answer.webhook.id}/test`,
      {},
    )
    ids['delivery'] = delivery.id
    ids['event'] = delivery.event_id
    const { key } = await postToConsole<{ key: { id: string } }>(page, 'keys', { mode: 'test', name: 'Backend' })
    await postToConsole(page, `keys/${key.id}/rotate`, {})
    await waitFor('the attempt to be written down', async () => {
      const read = await page.request.get(
        `/console/workspaces/${fixture.host.workspace.slug}/deliveries/${delivery.id}`,
      )
      const { attempts } = (await read.json()) as { attempts: readonly unknown[] }
      return attempts.length > 0
    })
    assert.equal(receiver.received.length, 1)
  }
})
