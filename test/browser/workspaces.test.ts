import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { connectWith, startClientApp, type ClientApp } from '../support/sandbox/client-app.ts'
import type { Person } from '../support/browser/launch-browser.ts'
import { refreshTokens } from '../support/sandbox/oauth-client.ts'
import {
  acceptInvitation,
  approve,
  button,
  confirm,
  createInvitation,
  fillSignUp,
  heading,
  openConsent,
  signIn,
  signOut,
  signUp,
} from '../support/browser/pages.ts'
import { openClockBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { createKey, joinDemo, signUpOverHttp } from '../support/browser/sign-up-over-http.ts'
import { postToConsole } from './owner-steps.ts'

/** How long a proof by passkey is valid. */
const PROOF_SECONDS = 10 * 60

describe('workspaces and their members, in a browser', () => {
  let fixture: BrowserFixture
  let app: ClientApp
  before(async () => {
    fixture = await openClockBrowserFixture()
    app = await startClientApp(fixture.host)
  })
  afterEach((t) => fixture.leave(t))
  after(async () => {
    await app.close()
  })

  /** Signs up a person and creates a workspace for them. Afterwards, the browser shows the workspace's page. */
  const enterOwner = async (name: string, workspace: string): Promise<Person> => {
    const person = await fixture.enter()
    await signUpOverHttp(person, name, fixture.host)
    await person.page.goto('/')
    await createWorkspace(person.page, workspace)
    return person
  }

  test("everybody who opens the sandbox's invitation becomes an owner, after signing up, and again from another browser", async () => {
    for (const name of ['Ada Lovelace', 'Grace Hopper']) {
      const { page } = await fixture.enter()
      await page.goto(fixture.host.workspace.invite_url)
      await heading(page, 'Join demo').waitFor()
      await page.getByRole('link', { name: 'Create an account' }).click()
      await fillSignUp(page, name)
      await button(page, 'Join demo').click()
      await page.getByText('Your role: owner').waitFor()
      await page.getByRole('link', { name: 'Members' }).first().click()
      await memberRow(page, `${name} (you)`).waitFor()
    }
  })

  test('an invitation adds one person, with its role, and nobody after that', async () => {
    const owner = await enterOwner('Olive Owner', 'Kitchen')
    await openMembers(owner.page)
    const url = await createInvitation(owner.page, 'Admin')
    assert.equal(new URL(url).origin, fixture.host.authUrl)
    const open = owner.page.getByRole('region', { name: 'Open invitations' })
    await open.getByText('As admin', { exact: true }).waitFor()

    const guest = await fixture.enter()
    await signUpOverHttp(guest, 'Guy Guest', fixture.host)
    await guest.page.goto(url)
    await guest.page.getByText('Olive Owner invited you.').waitFor()
    await acceptInvitation(guest.page, url)
    await guest.page.getByText('Your role: admin').waitFor()

    const late = await fixture.enter()
    await signUpOverHttp(late, 'Lara Late', fixture.host)
    await late.page.goto(url)
    await heading(late.page, 'This invitation can’t be used').waitFor()
    assert.equal(await late.page.getByRole('button', { name: /^Join/ }).count(), 0)

    await owner.page.reload()
    await memberRow(owner.page, 'Guy Guest').waitFor()
    await open.getByText('There are no open invitations.').waitFor()
  })

  test('if an invitation is open in two browsers, only the first to accept becomes a member', async () => {
    const owner = await enterOwner('Olive Owner', 'Garden')
    await openMembers(owner.page)
    const url = await createInvitation(owner.page, 'Viewer')
    const guests = await Promise.all(['Una', 'Ulf'].map((name) => enterWithOffer(fixture, name, url)))
    await Promise.all(guests.map(({ page }) => button(page, 'Join Garden').click()))
    const outcomes = await Promise.all(
      guests.map(async ({ page }) => {
        const refusal = page.getByRole('alert').filter({ hasText: 'invitation does not exist' })
        const welcome = page.getByText('Your role: viewer')
        await welcome.or(refusal).waitFor()
        return (await welcome.count()) === 1 ? 'in' : 'refused'
      }),
    )
    assert.deepEqual(outcomes.toSorted(), ['in', 'refused'])
  })

  test('if the invitation or the session cannot be read, the person can try again', async () => {
    const owner = await enterOwner('Olive Owner', 'Terrace')
    await openMembers(owner.page)
    const url = await createInvitation(owner.page, 'Viewer')
    const { page, context } = await fixture.enter()
    const error = { type: 'rate_limited', code: 'rate_limit_exceeded', message: 'Wait a moment.' }
    const paths = ['**/console/invitations/look-up', '**/console/session']
    for (const path of paths) await context.route(path, (route) => route.fulfill({ status: 429, json: { error } }))
    await page.goto(url)
    for (const [index, name] of ['The invitation can’t be shown', 'Join Terrace'].entries()) {
      await heading(page, name).waitFor()
      await page.getByRole('alert').filter({ hasText: 'Wait a moment.' }).waitFor()
      assert.equal(await page.getByRole('link', { name: 'Sign in to join' }).count(), 0)
      await context.unroute(paths[index] ?? '')
      await button(page, 'Try again').click()
    }
    await page.getByRole('link', { name: 'Sign in to join' }).waitFor()
  })

  test('a revoked invitation adds nobody', async () => {
    const owner = await enterOwner('Olive Owner', 'Cellar')
    await openMembers(owner.page)
    const url = await createInvitation(owner.page, 'Owner')
    await owner.page.getByRole('button', { name: /^Revoke/ }).click()
    await confirm(owner.page, 'Revoke invitation')
    await owner.page.getByText('There are no open invitations.').waitFor()

    const guest = await fixture.enter()
    await guest.page.goto(url)
    await heading(guest.page, 'This invitation can’t be used').waitFor()
  })

  test('roles are changed and members removed; an admin cannot change an owner, and a viewer cannot change anything', async () => {
    const owner = await enterOwner('Olive Owner', 'Attic')
    await openMembers(owner.page)
    const url = await createInvitation(owner.page, 'Viewer')
    const guest = await fixture.enter()
    await signUpOverHttp(guest, 'Guy Guest', fixture.host)
    await acceptInvitation(guest.page, url)
    await openMembers(guest.page)
    await memberRow(guest.page, 'Olive Owner').waitFor()
    await guest.page.getByRole('button', { name: /^Leave/ }).waitFor()
    assert.equal(await guest.page.getByRole('combobox').count(), 0)
    assert.equal(await button(guest.page, 'Create link').count(), 0)

    await owner.page.reload()
    const row = memberRow(owner.page, 'Guy Guest')
    await row.getByRole('combobox', { name: 'Role of Guy Guest' }).selectOption('Admin')
    await row.getByRole('button', { name: /^Save/ }).click()
    await row.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
    await row.getByRole('button', { name: /^Save/ }).waitFor({ state: 'hidden' })
    // The button disappears after the click. The keyboard focus must then move to the select, and not be lost.
    await row.locator('select:focus').waitFor()

    await guest.page.reload()
    await button(guest.page, 'Create link').waitFor()
    assert.equal(await memberRow(guest.page, 'Olive Owner').getByRole('button').count(), 0)
    assert.deepEqual(await guest.page.getByLabel('Role', { exact: true }).getByRole('option').allInnerTexts(), [
      'Viewer',
      'Admin',
    ])

    await row.getByRole('button', { name: /^Remove/ }).click()
    const warning = { hasText: 'Webhook endpoints stay, so check that none of them sends to a server of Guy Guest' }
    await owner.page.getByRole('alertdialog').filter(warning).waitFor()
    await confirm(owner.page, 'Remove member')
    await row.waitFor({ state: 'hidden' })
    await guest.page.reload()
    await heading(guest.page, 'Page not found').waitFor()
  })

  test('before a member is removed, the dialog lists what ends, and single keys can be kept', async () => {
    const owner = await enterOwner('Olive Owner', 'Loft')
    await openMembers(owner.page)
    const guest = await fixture.enter()
    await signUpOverHttp(guest, 'Guy Guest', fixture.host)
    await acceptInvitation(guest.page, await createInvitation(owner.page, 'Admin'))
    const slug = /\/w\/([^/]+)/.exec(guest.page.url())?.[1] ?? ''
    const { authUrl } = fixture.host
    const payroll = await createKey(guest, { authUrl, slug, mode: 'live', name: 'Payroll' })
    const scraper = await createKey(guest, { authUrl, slug, mode: 'test', name: 'Scraper' })
    await postToConsole(guest.page, 'invitations', { role: 'viewer' })
    await openMembers(guest.page)
    await guest.page.getByRole('button', { name: /^Leave/ }).click()
    const own = guest.page.getByRole('alertdialog')
    await own.getByText('Payroll').waitFor()
    await own.getByText('first ask another admin or owner to rotate its key').waitFor()
    assert.equal(await own.getByRole('checkbox').count(), 0)
    await inspectPage(guest.page, 'member-leaves')
    await own.getByRole('button', { name: 'Cancel' }).click()

    await owner.page.reload()
    const row = memberRow(owner.page, 'Guy Guest')
    await row.getByRole('combobox', { name: 'Role of Guy Guest' }).selectOption('Viewer')
    await row.getByRole('button', { name: /^Save/ }).click()
    const dialog = owner.page.getByRole('alertdialog')
    await dialog
      .filter({ hasText: 'Make Guy Guest a viewer?' })
      .getByRole('checkbox', { name: 'Keep Scraper' })
      .waitFor()
    await inspectPage(owner.page, 'member-becomes-viewer')
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await row.getByRole('button', { name: /^Remove/ }).click()
    await dialog.getByText(`svc_live_…${payroll.slice(-4)}`).waitFor()
    await dialog.getByText(`svc_test_…${scraper.slice(-4)}`).waitFor()
    await dialog.getByRole('group', { name: 'Invitation links that stop working' }).getByText('As viewer').waitFor()
    await dialog.getByRole('checkbox', { name: 'Keep Payroll' }).check()
    await dialog.getByText('Guy Guest may still know the secret of a key that you keep').waitFor()
    await inspectPage(owner.page, 'member-removal')
    await confirm(owner.page, 'Remove member')
    await owner.page
      .getByRole('status')
      .filter({ hasText: `Revoked API keys: Scraper (test, …${scraper.slice(-4)})` })
      .waitFor()
    await owner.page
      .getByRole('status')
      .filter({ hasText: `Kept API keys: Payroll (live, …${payroll.slice(-4)})` })
      .waitFor()
    await owner.page.getByText('There are no open invitations.').waitFor()
    await inspectPage(owner.page, 'member-removed')
    assert.deepEqual([await fixture.host.statusOfMe(payroll), await fixture.host.statusOfMe(scraper)], [200, 401])
    await owner.page.goto(`/w/${slug}/live/developers/keys`)
    await owner.page.getByText('Guy Guest is no longer a member').waitFor()
    await inspectPage(owner.page, 'keys-former-member')
  })

  test('the last owner can neither leave nor change their role', async () => {
    const { page } = await enterOwner('Olive Owner', 'Shed')
    await openMembers(page)
    await page.getByRole('button', { name: /^Leave/ }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('button', { name: 'Leave workspace' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'needs an owner' }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('combobox', { name: 'Role of Olive Owner' }).selectOption('Viewer')
    await page.getByRole('button', { name: /^Save/ }).click()
    await dialog.getByRole('button', { name: 'Become a viewer' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'needs an owner' }).waitFor()
  })

  test('disconnecting an application ends its tokens at once', async () => {
    const person = await fixture.enter()
    const { page } = person
    await joinDemo(person, 'Dora Demo', fixture.host)
    const authorization = app.start()
    await openConsent(page, authorization.url)
    await approve(page)
    await page.waitForURL(`${app.origin}/**`)
    const { tokens } = await connectWith(fixture.host, authorization, new URL(page.url()))
    assert.equal(await fixture.host.statusOfMe(tokens.access_token), 200)

    await page.goto(`/w/${fixture.host.workspace.slug}/test/developers/connections`)
    const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Dora Demo' })
    await row.getByText('demo-agent').waitFor()
    await row.getByText('Test client').waitFor()
    await row.getByRole('button', { name: /^Disconnect/ }).click()
    await confirm(page, 'Disconnect')
    await row.waitFor({ state: 'hidden' })
    assert.equal(await fixture.host.statusOfMe(tokens.access_token), 401)
    const refused = await refreshTokens(fixture.host, authorization.clientId, tokens.refresh_token)
    assert.equal(refused.error, 'invalid_grant')

    await page.getByRole('link', { name: 'Audit log' }).click()
    const entries = page.getByRole('main').getByRole('listitem')
    await entries.filter({ hasText: 'Dora Demo disconnected an application' }).waitFor()
    await entries.filter({ hasText: 'Dora Demo approved a connection' }).waitFor()
  })

  test('two people who use one browser after each other see only their own workspaces', async () => {
    const { page } = await enterOwner('Olive Owner', 'Hall')
    await signOut(page, 'Olive Owner')
    await signUp(page, 'Nora Next')
    await page.getByText('You don’t have a workspace yet').waitFor()
    await page.goto('/w/hall')
    await heading(page, 'Page not found').waitFor()
    await signOut(page, 'Nora Next')
    await signIn(page)
  })

  // The remaining tests move the clock, so all earlier proofs have expired.

  test('inviting an admin requires a new proof by passkey, inviting a viewer does not', async () => {
    const { page } = await enterOwner('Olive Owner', 'Vault')
    await openMembers(page)
    await fixture.host.control('/clock', { advance_seconds: PROOF_SECONDS + 1 })
    let proofs = 0
    await page.route('**/console/verification', async (route) => {
      proofs += 1
      await route.continue()
    })
    await createInvitation(page, 'Viewer')
    assert.equal(proofs, 0)
    await createInvitation(page, 'Admin')
    assert.equal(proofs, 1)
  })

  test('making a viewer an admin requires a new proof by passkey, and then happens', async () => {
    const owner = await enterOwner('Olive Owner', 'Tower')
    await openMembers(owner.page)
    const url = await createInvitation(owner.page, 'Viewer')
    const guest = await enterWithOffer(fixture, 'Guy Guest', url)
    await button(guest.page, 'Join Tower').click()
    await guest.page.getByText('Your role: viewer').waitFor()
    await owner.page.reload()
    const row = memberRow(owner.page, 'Guy Guest')
    await row.waitFor()
    let proofs = 0
    await owner.page.route('**/console/verification', async (route) => {
      proofs += 1
      await route.continue()
    })
    await fixture.host.control('/clock', { advance_seconds: PROOF_SECONDS + 1 })
    await row.getByRole('combobox', { name: 'Role of Guy Guest' }).selectOption('Admin')
    await row.getByRole('button', { name: /^Save/ }).click()
    await row.getByRole('status').filter({ hasText: 'Saved' }).waitFor()
    assert.equal(proofs, 1)
  })
})

async function enterWithOffer(fixture: BrowserFixture, name: string, url: string): Promise<Person> {
  const person = await fixture.enter()
  await signUpOverHttp(person, name, fixture.host)
  await person.page.goto(url)
  await person.page.getByRole('button', { name: /^Join / }).waitFor()
  return person
}

async function createWorkspace(page: Page, name: string): Promise<void> {
  await page.getByLabel('Workspace name').fill(name)
  await button(page, 'Create workspace').click()
  await page.getByRole('navigation', { name: `Workspace ${name}`, exact: true }).waitFor()
}

async function openMembers(page: Page): Promise<void> {
  await page
    .getByRole('navigation', { name: /^Workspace / })
    .getByRole('link', { name: 'Members' })
    .click()
  await heading(page, 'Members').waitFor()
}

function memberRow(page: Page, name: string) {
  return page.getByRole('main').getByRole('listitem').filter({ hasText: name })
}
