import assert from 'node:assert/strict'
import { afterEach, before, describe, test } from 'node:test'
import {
  acceptInvitation,
  button,
  confirm,
  createInvitation,
  hasFocus,
  heading,
  signUp,
} from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { enterOwner, goTo } from './owner-steps.ts'

/** A break in the live connection is told after some seconds, and its end once the browser has tried again. */
const RECONNECTION_MS = 30_000

describe('what stands around every page', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach(() => fixture.leave())

  test('whoever is removed is told so by the next page that they open, and has a way out', async () => {
    const owner = (await enterOwner(fixture, 'Olive Owner', 'Loft')).page
    await goTo(owner, 'Members')
    const link = await createInvitation(owner, 'Viewer')
    await button(owner, 'Make another link').waitFor()
    const guest = (await fixture.enter()).page
    await signUp(guest, 'Guy Guest')
    await acceptInvitation(guest, link)

    await owner.reload()
    const row = owner.getByRole('main').getByRole('listitem').filter({ hasText: 'Guy Guest' })
    await row.getByRole('button', { name: /^Remove/ }).click()
    await confirm(owner, 'Remove the member')
    await row.waitFor({ state: 'hidden' })
    await owner.locator('h1:focus').waitFor()

    await guest.getByRole('link', { name: 'Agents', exact: true }).first().click()
    await heading(guest, 'You no longer belong to this workspace').waitFor()
    await guest.getByRole('link', { name: 'Go to your workspaces' }).click()
    await heading(guest, 'Your workspaces').waitFor()
  })

  test('a page that can’t be loaded leaves the rest standing, and comes once it can be', async () => {
    const { page, context } = await enterOwner(fixture, 'Nell Network', 'Mast')
    const files = '**/assets/members-page*'
    const session = '**/console/session'
    await context.route(files, (route) => route.abort())
    await page.reload()
    await goTo(page, 'Agents')
    await page
      .getByRole('navigation', { name: 'Workspace Mast' })
      .getByRole('link', { name: 'Members', exact: true })
      .click()
    await heading(page, 'Bursar can’t be reached').waitFor()
    await context.route(session, (route) => route.abort())
    await button(page, 'Try again').click()
    await page.getByText('Still no answer.').waitFor()
    await goTo(page, 'Agents')

    await page.goBack()
    await heading(page, 'Bursar can’t be reached').waitFor()
    await context.unroute(session)
    await context.unroute(files)
    await button(page, 'Try again').click()
    await heading(page, 'Members').waitFor()
  })

  test('that nothing is heard any more is told, and that it is again', async () => {
    const { page, context } = await enterOwner(fixture, 'Lea Live', 'Tower')
    await context.route('**/changes?*', (route) => route.abort())
    await page.reload()
    const notice = page.getByText('Not live: reconnecting…')
    await notice.waitFor()
    await context.unroute('**/changes?*')
    await notice.waitFor({ state: 'hidden', timeout: RECONNECTION_MS })
  })

  test('recovery codes are not lost by a click elsewhere', async () => {
    const { page } = await enterOwner(fixture, 'Cara Codes', 'Safe')
    await page.goto('/account')
    await button(page, 'Make new codes').click()
    await confirm(page, 'Make new codes')
    await page.getByRole('link', { name: 'Back to Safe' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Leave without the codes?' })
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await button(page, 'I have kept them').click()
    await page.getByRole('link', { name: 'Back to Safe' }).click()
    await heading(page, 'Overview').waitFor()
  })

  test('a few letters lead to an agent, and a form that is cancelled gives the focus back', async () => {
    const { page } = await enterOwner(fixture, 'Kim Keys', 'Desk')
    await goTo(page, 'Agents')
    await button(page, 'New agent').click()
    await page.getByLabel('Id of the agent').press('Escape')
    assert.ok(await hasFocus(page, button(page, 'New agent')))
    await page.keyboard.press('Enter')
    await page.getByLabel('Id of the agent').fill('desk-bot')
    await button(page, 'Create the agent').click()
    await heading(page, 'desk-bot').waitFor()
    await goTo(page, 'Wallets')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Where to' }).fill('desk')
    await page.getByRole('option', { name: 'desk-bot' }).waitFor()
    await page.keyboard.press('Enter')
    await heading(page, 'desk-bot').waitFor()
  })
})
