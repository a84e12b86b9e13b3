import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { connectWith, startClientApp, type ClientApp } from '../support/sandbox/client-app.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import {
  acceptInvitation,
  approve,
  approveButton,
  button,
  createInvitation,
  heading,
  openConsent,
  personMenu,
} from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo, signUpOverHttp } from '../support/browser/sign-up-over-http.ts'

const PHONE = { width: 375, height: 900 }
const VIEWER_OBSTACLE = 'Viewers can’t approve.'

describe('the consent page and the pages of a workspace, in both themes and at every width', () => {
  let fixture: BrowserFixture
  let app: ClientApp
  before(async () => {
    fixture = await openBrowserFixture()
    app = await startClientApp(fixture.host, { name: 'A rather long name of an application that helps with invoices' })
  })
  afterEach((t) => fixture.leave(t))
  after(async () => {
    await app.close()
  })

  test('the pages of consent', async () => {
    const person = await fixture.enter()
    const { page } = person
    await signUpOverHttp(person, 'Ada Lovelace', fixture.host)
    await openConsent(page, app.start().url)
    await inspectPage(page, 'consent-no-workspace')
    await acceptInvitation(page, fixture.host.workspace.invite_url)
    await openConsent(page, app.start({ scope: 'wallet:read wallet:transfer x402:pay' }).url)
    await approveButton(page)
    await inspectPage(page, 'consent')
    await page.getByRole('radio', { name: /^Live/ }).check()
    await button(page, 'Create a new agent').click()
    await page.getByLabel('New agent ID').fill('research-bot')
    await page.getByRole('status').filter({ hasText: 'create the new agent first' }).waitFor()
    await inspectPage(page, 'consent-live-new-agent')
    await openConsent(page, app.start({ agent_id: `long-${'agent-'.repeat(9)}id`, scope: 'wallet:read' }).url)
    await page.getByText('The application asked for the agent').waitFor()
    await inspectPage(page, 'consent-agent-missing')
    const answered = page.url()
    await button(page, 'Deny').click()
    await page.waitForURL((url) => url.origin === app.origin)
    await page.goto(answered)
    await heading(page, 'This request was already answered').waitFor()
    await inspectPage(page, 'consent-answered')
    await page.goto('/consent')
    await heading(page, 'This request is no longer open').waitFor()
    await inspectPage(page, 'consent-over')
  })

  test('the pages for a viewer, and of an application on the web', async () => {
    const web = await startClientApp(fixture.host, {
      name: 'Web client',
      host: 'a-quite-long-host-name.client.example',
    })
    try {
      const inviter = await fixture.enter()
      const owner = inviter.page
      await joinDemo(inviter, 'Olive Owner', fixture.host)
      await owner.goto(`/w/${fixture.host.workspace.slug}/members`)
      const link = await createInvitation(owner, 'Viewer')
      const person = await fixture.enter()
      const { page } = person
      await signUpOverHttp(person, 'Vera Viewer', fixture.host)
      await acceptInvitation(page, link)
      await openConsent(page, web.start().url)
      await page.getByRole('status').filter({ hasText: VIEWER_OBSTACLE }).waitFor()
      await inspectPage(page, 'consent-viewer')
      await page.setViewportSize(PHONE)
      const told = page.getByText(VIEWER_OBSTACLE)
      assert.equal(await told.count(), 2, 'beside the answer, and for the eyes near the top')
      assert.ok((await boxOf(told.first())).y < PHONE.height / 2)
      assert.equal(await page.getByRole('paragraph').filter({ hasText: VIEWER_OBSTACLE }).count(), 0)
      await page.goto(`/w/${fixture.host.workspace.slug}/members`)
      await page.getByRole('listitem').filter({ hasText: 'Olive Owner' }).waitFor()
      await inspectPage(page, 'members-viewer')
    } finally {
      await web.close()
    }
  })

  test('the pages of a workspace', async () => {
    const person = await fixture.enter()
    const { page } = person
    await joinDemo(person, 'Ada Augusta King, Countess of Lovelace', fixture.host)
    await page.goto(`/w/${fixture.host.workspace.slug}/test/developers/connections`)
    await page.getByText('No applications are connected in test mode').waitFor()
    await inspectPage(page, 'connections-empty')
    const authorization = app.start()
    await openConsent(page, authorization.url)
    await approve(page)
    await page.waitForURL((url) => url.origin === app.origin)
    await connectWith(fixture.host, authorization, new URL(page.url()))
    await page.goto(`/w/${fixture.host.workspace.slug}/test/developers/connections`)
    await page.getByRole('button', { name: /^Disconnect/ }).waitFor()
    await inspectPage(page, 'connections')
    await page.getByRole('button', { name: /^Disconnect/ }).click()
    await page.getByRole('alertdialog').waitFor()
    await inspectPage(page, 'connections-dialog')
    await page.goto(`/w/${fixture.host.workspace.slug}/members`)
    await createInvitation(page, 'Admin')
    await inspectPage(page, 'members')
    await page.goto(`/w/${fixture.host.workspace.slug}/audit`)
    await page.getByRole('main').getByRole('listitem').first().waitFor()
    await inspectPage(page, 'audit')
    assert.equal(await page.getByText(/\d{4}-\d\d-\d\dT/).count(), 0, 'no time is told as machines tell it')
    await page.setViewportSize(PHONE)
    const name = await boxOf(button(page, 'Ada Augusta King, Countess of Lovelace'))
    assert.ok(name.x + name.width < PHONE.width, 'what lights up under the pointer ends before the screen does')
    await page.goto('/')
    await heading(page, 'Your workspaces').waitFor()
    await button(page, 'Ada Augusta King, Countess of Lovelace').click()
    await personMenu(page).waitFor()
    await inspectPage(page, 'home-menu')
  })
})

async function boxOf(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await element.boundingBox()
  assert.ok(box !== null, 'it is to be seen')
  return box
}
