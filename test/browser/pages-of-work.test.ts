import { after, afterEach, before, describe, test } from 'node:test'
import { connectWith, startClientApp, type ClientApp } from '../support/client-app.ts'
import { inspectPage } from '../support/inspect-page.ts'
import {
  acceptInvitation,
  approve,
  approveButton,
  button,
  createInvitation,
  heading,
  joinDemo,
  openConsent,
  personMenu,
  signUp,
} from '../support/pages.ts'
import { openStage, type Stage } from '../support/stage.ts'

describe('the pages of consent and of a workspace, in both themes and at every width', () => {
  let stage: Stage
  let app: ClientApp
  before(async () => {
    stage = await openStage()
    app = await startClientApp(stage.host, { name: 'A rather long name of an application that helps with invoices' })
  })
  afterEach(() => stage.leave())
  after(async () => {
    await app.close()
    await stage.close()
  })

  test('the pages of consent', async () => {
    const { page } = await stage.enter()
    await signUp(page, 'Ada Lovelace')
    await openConsent(page, app.start().url)
    await inspectPage(page, 'consent-no-workspace')
    await acceptInvitation(page, stage.host.workspace.invite_url)
    await openConsent(page, app.start({ scope: 'wallet:read wallet:transfer x402:pay' }).url)
    await approveButton(page)
    await inspectPage(page, 'consent')
    await page.getByRole('radio', { name: /^Live/ }).check()
    await button(page, 'Create a new agent').click()
    await page.getByLabel('Id of the new agent').fill('research-bot')
    await approveButton(page)
    await inspectPage(page, 'consent-live-new-agent')
    await openConsent(page, app.start({ agent_id: `long-${'agent-'.repeat(9)}id`, scope: 'wallet:read' }).url)
    await page.getByText('It asked for the agent').waitFor()
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

  test('the pages of a viewer and of an application on the web', async () => {
    const web = await startClientApp(stage.host, { name: 'Web client', host: 'a-quite-long-host-name.client.example' })
    try {
      const owner = (await stage.enter()).page
      await joinDemo(owner, 'Olive Owner', stage.host)
      await owner.goto('/w/demo/members')
      const link = await createInvitation(owner, 'Viewer')
      const { page } = await stage.enter()
      await signUp(page, 'Vera Viewer')
      await acceptInvitation(page, link)
      await openConsent(page, web.start().url)
      await page.getByText('As a viewer you can’t approve.').waitFor()
      await inspectPage(page, 'consent-viewer')
      await page.goto('/w/demo/members')
      await page.getByRole('listitem').filter({ hasText: 'Olive Owner' }).waitFor()
      await inspectPage(page, 'members-viewer')
    } finally {
      await web.close()
    }
  })

  test('the pages of a workspace', async () => {
    const { page } = await stage.enter()
    await joinDemo(page, 'Ada Augusta King, Countess of Lovelace', stage.host)
    await inspectPage(page, 'workspace')
    await page.goto('/w/demo/connections')
    await page
      .getByRole('main')
      .getByRole('paragraph')
      .filter({ hasText: /connected|act/ })
      .first()
      .waitFor()
    await inspectPage(page, 'connections-empty')
    const authorization = app.start()
    await openConsent(page, authorization.url)
    await approve(page)
    await page.waitForURL((url) => url.origin === app.origin)
    await connectWith(stage.host, authorization, new URL(page.url()))
    await page.goto('/w/demo/connections')
    await page.getByRole('button', { name: /^Disconnect/ }).waitFor()
    await inspectPage(page, 'connections')
    await page.getByRole('button', { name: /^Disconnect/ }).click()
    await page.getByRole('alertdialog').waitFor()
    await inspectPage(page, 'connections-dialog')
    await page.goto('/w/demo/members')
    await createInvitation(page, 'Admin')
    await inspectPage(page, 'members')
    await page.goto('/w/demo/audit')
    await page.getByRole('main').getByRole('listitem').first().waitFor()
    await inspectPage(page, 'audit')
    await page.goto('/')
    await heading(page, 'Your workspaces').waitFor()
    await button(page, 'Ada Augusta King, Countess of Lovelace').click()
    await personMenu(page).waitFor()
    await inspectPage(page, 'home-menu')
  })
})
