import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { button, joinDemo } from '../support/browser/pages.ts'
import { startReceiver, type Receiver } from '../support/wires/receiver.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { waitFor } from '../support/wait-for.ts'
import { postToConsole } from './owner-steps.ts'

const KINDS = ['payment.created', 'payment.confirmed', 'permission.granted']

describe('the pages for developers, and of a workspace itself, in both themes and at every width', () => {
  let fixture: BrowserFixture
  let page: Page
  let receiver: Receiver
  const ids: Record<string, string> = {}
  before(async () => {
    fixture = await openBrowserFixture()
    receiver = await startReceiver()
    page = (await fixture.enter()).page
    await joinDemo(page, 'Ada Lovelace', fixture.host)
    await seed()
  })
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
    ['plan', () => 'plan', 'Plan'],
  ]
  for (const [name, path, title] of pages) {
    test(name, async () => {
      await page.goto(`/w/${fixture.host.workspace.slug}/test/${path()}`)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await inspectPage(page, name)
    })
  }

  test('account', async () => {
    await page.goto('/account')
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor()
    await inspectPage(page, 'account')
  })

  test('a key that is shown once, and the pages that one is led to by the keyboard', async () => {
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(`/w/${fixture.host.workspace.slug}/test/developers/keys`)
    await button(page, 'Create a key').click()
    await page.getByLabel('Key name').fill('Laptop')
    await page.keyboard.press('Enter')
    await page.getByLabel('API key', { exact: true }).waitFor()
    await inspectPage(page, 'key-shown')
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('hook')
    await inspectPage(page, 'go-to')
    await page.keyboard.press('Enter')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Leave without it' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  })

  test('on a phone the menu leads to every page, and closes', async () => {
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

  /** Creates a key, an endpoint that fails, and deliveries to it. */
  async function seed(): Promise<void> {
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
