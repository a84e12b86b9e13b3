import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { connectWith, startClientApp } from '../support/sandbox/client-app.ts'
import { call } from '../support/http-client.ts'
import {
  acceptInvitation,
  approve,
  button,
  confirm,
  createInvitation,
  heading,
  openConsent,
} from '../support/browser/pages.ts'
import { startReceiver } from '../support/wires/receiver.ts'
import { openOwnBrowserFixture, type OwnBrowserFixture } from '../support/browser/browser-fixture.ts'
import { signUpOverHttp } from '../support/browser/sign-up-over-http.ts'
import { addEndpoint, createKey, doAndConfirm, enterOwner, goTo } from './owner-steps.ts'

const DAY_SECONDS = 24 * 60 * 60

/** Each test begins with a new owner, and uses only what a person can see and click. */
describe('what owners do with keys, webhooks, members and applications', () => {
  let fixture: OwnBrowserFixture
  before(async () => {
    fixture = await openOwnBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))
  after(() => fixture.close())

  test('a failed delivery is replayed with one click, and arrives', async () => {
    const receiver = await startReceiver()
    try {
      const { page } = await enterOwner(fixture, 'Willa Webhook', 'Mail')
      await addEndpoint(page, receiver.url)
      receiver.reply((response) => response.writeHead(500).end('the database is down'))
      await page.getByRole('table', { name: 'Webhook endpoints' }).getByRole('link').click()
      await button(page, 'Send test event').click()
      await receiver.arrived(1)
      await page
        .getByRole('link', { name: /^webhook\.test/ })
        .first()
        .click()
      await page.getByText('500').first().waitFor()
      await page.getByText('Show response body').click()
      await page.getByText('the database is down').waitFor()

      receiver.reply(200)
      await button(page, 'Resend').click()
      await page.getByRole('main').getByText('Delivered', { exact: true }).first().waitFor()
      await receiver.arrived(2)
      assert.equal(receiver.received[1]?.eventId, receiver.received[0]?.eventId)
      assert.deepEqual(receiver.received[1]?.body, receiver.received[0]?.body)
    } finally {
      await receiver.close()
    }
  })

  test('a member is invited, joins, and is removed', async () => {
    const owner = (await enterOwner(fixture, 'Olive Owner', 'House')).page
    await goTo(owner, 'Members')
    const link = await createInvitation(owner, 'Viewer')
    const person = await fixture.enter()
    const guest = person.page
    await signUpOverHttp(person, 'Guy Guest', fixture.host)
    await acceptInvitation(guest, link)
    await goTo(guest, 'Agents')
    assert.equal(await button(guest, 'New agent').count(), 0, 'a viewer is offered nothing to change')

    await owner.reload()
    const row = owner.getByRole('main').getByRole('listitem').filter({ hasText: 'Guy Guest' })
    await row.getByRole('button', { name: /^Remove/ }).click()
    await confirm(owner, 'Remove member')
    await row.waitFor({ state: 'hidden' })
    await guest.reload()
    await heading(guest, 'Page not found').waitFor()
  })

  test('an application connects, its use is shown, and it is disconnected', async () => {
    const app = await startClientApp(fixture.host, { name: 'Invoice helper' })
    try {
      const { page } = await enterOwner(fixture, 'Cora Connect', 'Wire')
      await goTo(page, 'Agents')
      await button(page, 'New agent').first().click()
      await page.getByLabel('Agent ID').fill('wire-bot')
      await button(page, 'Create agent').click()
      await heading(page, 'wire-bot').waitFor()
      const authorization = app.start()
      await openConsent(page, authorization.url)
      await approve(page)
      await page.waitForURL((url) => url.origin === app.origin)
      const { tokens } = await connectWith(fixture.host, authorization, new URL(page.url()))

      await page.goto('/w/wire/test/developers/connections')
      const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Invoice helper' })
      await row.getByText(/Last used (?:just now|\d+ min ago)/).waitFor()
      await doAndConfirm(page, /^Disconnect/, 'Disconnect')
      await row.waitFor({ state: 'hidden' })
      assert.equal(await fixture.host.statusOfMe(tokens.access_token), 401)
    } finally {
      await app.close()
    }
  })

  for (const { title, list, opener, field } of [
    { title: 'API keys', list: 'keys', opener: 'Create a key', field: 'Key name' },
    { title: 'Webhooks', list: 'webhooks', opener: 'Add endpoint', field: 'URL' },
  ]) {
    test(`the page “${title}” has the button “${opener}” only in its final place, so no click on it is lost`, async () => {
      const { page } = await enterOwner(fixture, 'Eve Early', 'Dawn')
      const gate = Promise.withResolvers<void>()
      await page.route(`**/${list}?mode=test`, async (route) => {
        await gate.promise
        await route.continue()
      })
      await goTo(page, title)
      assert.equal(await button(page, opener).count(), 0)
      gate.resolve()
      await button(page, opener).click()
      await page.getByLabel(field, { exact: true }).waitFor()
    })
  }

  test('a new key that was not copied yet is not lost by a click elsewhere', async () => {
    const { page } = await enterOwner(fixture, 'Lou Loser', 'Pocket')
    await goTo(page, 'API keys')
    await button(page, 'Create a key').click()
    await page.getByLabel('Key name').fill('Laptop')
    await button(page, 'Create key').click()
    const field = page.getByLabel('API key', { exact: true })
    const secret = await field.inputValue()
    assert.equal(await page.getByRole('link', { name: 'See example requests' }).count(), 0)
    await page.getByRole('navigation').getByRole('link', { name: 'Payments', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stay' }).click()
    assert.equal(await field.inputValue(), secret)
    await button(page, 'I have saved it').click()
    await page.getByRole('link', { name: 'See example requests' }).click()
    await heading(page, 'Examples').waitFor()
  })

  // The remaining tests move the clock.

  test('after a rotation, both keys work for a day, which is counted down, and then only the new one', async () => {
    const { page } = await enterOwner(fixture, 'Kay Key', 'Lock')
    const old = await createKey(page, 'Backend')
    await doAndConfirm(page, 'Rotate Backend', 'Create new key')
    const fresh = await page.getByLabel('API key', { exact: true }).inputValue()
    assert.notEqual(fresh, old)
    await page.getByText(/The old key works for another 23 h 59 min/).waitFor()
    const statuses = () => Promise.all([old, fresh].map((key) => fixture.host.statusOfMe(key)))
    assert.deepEqual(await statuses(), [200, 200])
    const answer = await call(fixture.host.baseUrl, 'GET', '/v1/me', { key: old })
    assert.ok(answer.headers['service-rotation-grace-until'] !== undefined)

    await fixture.host.control('/clock', { advance_seconds: DAY_SECONDS })
    assert.deepEqual(await statuses(), [401, 200])
  })
})
