import assert from 'node:assert/strict'
import { afterEach, before, describe, test } from 'node:test'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { call } from '../support/http-client.ts'
import { waitFor } from '../support/wait-for.ts'
import { acceptInvitation, button, confirm, createInvitation, hasFocus, heading } from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo, signUpOverHttp } from '../support/browser/sign-up-over-http.ts'
import { enterOwner, goTo } from './owner-steps.ts'

/**
 * How long the page may take until it reports a broken live connection, or its recovery after the browser has
 * reconnected.
 */
const RECONNECTION_MS = 30_000
/** With this many agents, the field for the agent is a combobox. With fewer agents, it is a select. */
const MANY_AGENTS = 51

describe('the parts of the dashboard that every page has', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))

  test('before its code has arrived, a page shows where it will be', async () => {
    const { page, context } = await fixture.enter()
    await context.route('**/assets/*.js', (route) => route.abort())
    await page.goto('/sign-in')
    await page.getByRole('status', { name: 'Loading' }).getByText('Bursar').waitFor()
    await context.unroute('**/assets/*.js')
    await page.reload()
    await heading(page, 'Sign in').waitFor()
    assert.equal(await page.getByRole('status', { name: 'Loading' }).count(), 0)
  })

  test('a removed member is told so on the next page, which has a link to leave it', async () => {
    const owner = (await enterOwner(fixture, 'Olive Owner', 'Loft')).page
    await goTo(owner, 'Members')
    const link = await createInvitation(owner, 'Viewer')
    await button(owner, 'Create another link').waitFor()
    const person = await fixture.enter()
    const guest = person.page
    await signUpOverHttp(person, 'Guy Guest', fixture.host)
    await acceptInvitation(guest, link)

    await owner.reload()
    const row = owner.getByRole('main').getByRole('listitem').filter({ hasText: 'Guy Guest' })
    await row.getByRole('button', { name: /^Remove/ }).click()
    await confirm(owner, 'Remove member')
    await row.waitFor({ state: 'hidden' })
    await owner.locator('h1:focus').waitFor()

    await guest.getByRole('link', { name: 'Agents', exact: true }).first().click()
    await heading(guest, 'You are no longer a member of this workspace').waitFor()
    await guest.getByRole('link', { name: 'Go to your workspaces' }).click()
    await heading(guest, 'Your workspaces').waitFor()
  })

  test('a member of a workspace that was moved to another cell is told so on the next page', async () => {
    const { page } = await enterOwner(fixture, 'Mona Mover', 'Barn')
    // As if the command had moved the workspace. It would also have taken all other rows out.
    await fixture.query(
      `with gone as (
          delete from members where workspace_id = (select id from workspaces where name = 'Barn')
            returning workspace_id, user_id
        ), moved as (
          insert into moves (id, workspace_id, slug, cell, state, started_at, ended_at)
            select 'mov_barn', w.id, w.slug, 'eu2', 'moved', now(), now() from gone join workspaces w on w.id = workspace_id
            returning id
        )
        insert into moved_rows (move_id, table_name, number, content)
          select moved.id, 'members', 1, json_build_object('user_id', user_id) from gone, moved`,
    )
    // Not by the link: if the page before asks for something meanwhile, it says the same, and has no links any more.
    await page.goto(`${page.url()}/agents`)
    await heading(page, 'This workspace was moved').waitFor()
    await page.getByText('Ask the server operator for its new address').waitFor()
    await inspectPage(page, 'workspace-moved')
    await page.getByRole('link', { name: 'Go to your workspaces' }).click()
    await heading(page, 'Your workspaces').waitFor()
    await page.getByText(/^The workspace barn\S* was moved to other servers/).waitFor()
  })

  test('if a page cannot be loaded, the rest of the dashboard stays, and the page appears once it can be loaded', async () => {
    const { page, context } = await enterOwner(fixture, 'Nell Network', 'Mast')
    const files = '**/assets/recipients-*'
    const session = '**/console/session'
    await context.route(files, (route) => route.abort())
    await page.reload()
    await goTo(page, 'Agents')
    await page
      .getByRole('navigation', { name: 'Workspace Mast' })
      .getByRole('link', { name: 'Recipients', exact: true })
      .click()
    await heading(page, 'Bursar can’t be reached').waitFor()
    await context.route(session, (route) => route.abort())
    await button(page, 'Try again').click()
    await page.getByText('Bursar still can’t be reached.').waitFor()
    await goTo(page, 'Agents')

    await page.goBack()
    await heading(page, 'Bursar can’t be reached').waitFor()
    await context.unroute(session)
    await context.unroute(files)
    await button(page, 'Try again').click()
    await heading(page, 'Recipients').waitFor()
  })

  test('the dashboard shows that its live connection is broken, and that it works again', async () => {
    const { page, context } = await enterOwner(fixture, 'Lea Live', 'Tower')
    await context.route('**/changes?*', (route) => route.abort())
    await page.reload()
    const notice = page.getByText('Connection lost. Reconnecting…')
    await notice.waitFor()
    await context.unroute('**/changes?*')
    await notice.waitFor({ state: 'hidden', timeout: RECONNECTION_MS })
  })

  test('recovery codes are not lost by a click elsewhere', async () => {
    const { page } = await enterOwner(fixture, 'Cara Codes', 'Safe')
    await page.goto('/account')
    await button(page, 'Generate new codes').click()
    await confirm(page, 'Generate new codes')
    await page.getByRole('link', { name: 'Back to Safe' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Leave without the codes?' })
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await button(page, 'I have saved them').click()
    await page.getByRole('link', { name: 'Back to Safe' }).click()
    await heading(page, 'Overview').waitFor()
  })

  test('typing a few letters leads to an agent, and a form that is canceled returns the focus', async () => {
    const { page } = await enterOwner(fixture, 'Kim Keys', 'Desk')
    await goTo(page, 'Agents')
    await button(page, 'New agent').click()
    await page.getByLabel('Agent ID').press('Escape')
    assert.ok(await hasFocus(page, button(page, 'New agent')))
    await page.keyboard.press('Enter')
    await page.getByLabel('Agent ID').fill('desk-bot')
    await button(page, 'Create agent').click()
    await heading(page, 'desk-bot').waitFor()
    await goTo(page, 'Wallets')
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('desk')
    await page.getByRole('option', { name: 'desk-bot' }).waitFor()
    await page.keyboard.press('Enter')
    await heading(page, 'desk-bot').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('create agent')
    await page.keyboard.press('Enter')
    await page.getByLabel('Agent ID').waitFor()
  })

  test('one of many agents is selected by typing a part of its id', async () => {
    const person = await fixture.enter()
    const { page } = person
    await joinDemo(person, 'Mia Many', fixture.host)
    for (let index = 0; index < MANY_AGENTS; index += 1) {
      const body = { id: `many-${index}` }
      const answer = await call(fixture.host.baseUrl, 'POST', '/v1/agents', {
        key: fixture.host.workspace.keys.test,
        body,
      })
      assert.equal(answer.status, 201)
    }
    await page.goto(`/w/${fixture.host.workspace.slug}/test/grants/new`)
    // The field is a select until the code of the combobox has been loaded.
    const field = page.getByRole('combobox', { name: 'Agent', exact: true }).and(page.locator('input'))
    await field.fill('ny-37')
    await page.getByRole('option', { name: 'many-37' }).waitFor()
    await field.press('Enter')
    assert.equal(await field.inputValue(), 'many-37')
    await page.getByText('many-37 may pay from').waitFor()
    await inspectPage(page, 'grant-new-many')
    await field.fill('nobody')
    await page.getByText('No results.').waitFor()
    await field.press('Tab')
    // Text that matches no agent selects nothing. The page restores the chosen agent shortly after the field lost the
    // focus.
    await waitFor('the chosen agent is shown again', async () => (await field.inputValue()) === 'many-37')
  })
})
