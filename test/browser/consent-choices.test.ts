import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { swapAuthenticator } from '../support/browser/launch-browser.ts'
import { connectWith, startClientApp, type ClientApp } from '../support/sandbox/client-app.ts'
import { call } from '../support/http-client.ts'
import {
  acceptInvitation,
  approve,
  approveButton,
  button,
  confirm,
  consentHeading,
  countApprovals,
  createInvitation,
  deny,
  fillSignUp,
  hasFocus,
  heading,
  openConsent,
  signIn,
  signOut,
  tabTo,
} from '../support/browser/pages.ts'
import { openClockBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo, signUpOverHttp } from '../support/browser/sign-up-over-http.ts'
import type { StorageState } from '../support/browser/context-pool.ts'

/** How long an open authorization request is valid. */
const REQUEST_SECONDS = 10 * 60
/** How long a proof by passkey is valid. */
const PROOF_SECONDS = 10 * 60
const NOBODY = `0x${'5'.repeat(40)}`

describe('the choices on the consent page, in a browser', () => {
  let fixture: BrowserFixture
  let app: ClientApp
  let signedIn: StorageState
  before(async () => {
    fixture = await openClockBrowserFixture()
    app = await startClientApp(fixture.host)
    const person = await fixture.enter()
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    signedIn = await person.context.storageState()
  })
  afterEach((t) => fixture.leave(t))
  after(async () => {
    await app.close()
  })

  const enterOwner = async (): Promise<Page> => (await fixture.enter({ storageState: signedIn })).page
  const arrive = async (page: Page): Promise<URL> => {
    await page.waitForURL((url) => url.origin === app.origin)
    return new URL(page.url())
  }

  test('scopes that are switched off are not granted, and reading is always included', async () => {
    const page = await enterOwner()
    const authorization = app.start({ scope: 'wallet:read wallet:transfer x402:pay' })
    await openConsent(page, authorization.url)
    const scopes = page.getByRole('group', { name: 'What the application can do' }).getByRole('checkbox')
    assert.equal(await scopes.count(), 2)
    await page.getByText('Always included. Reads all agents of the workspace').waitFor()
    await page.getByText('Every connection can read.').waitFor()
    await page.getByRole('checkbox', { name: 'Send USDC' }).uncheck()
    await page.getByRole('checkbox', { name: 'Buy web resources' }).uncheck()
    await page
      .getByText(
        'Buys web resources that ask for a payment (x402, MPP), within the limits of the signed grants that allow purchases.',
      )
      .waitFor()
    await approve(page)
    const { tokens, me } = await connectWith(fixture.host, authorization, await arrive(page))
    assert.equal(tokens.scope, 'wallet:read')
    assert.deepEqual(me.scopes, ['wallet:read'])
    const payment = { wallet: fixture.host.workspace.wallets.test, to: NOBODY, amount_usdc: '1' }
    const refused = await call(fixture.host.baseUrl, 'POST', '/v1/payments', {
      key: tokens.access_token,
      body: payment,
    })
    assert.equal(refused.body.error.code, 'insufficient_scope')
  })

  test('reading is shown even if it was not asked for, and one of the other scopes stays on', async () => {
    const page = await enterOwner()
    const authorization = app.start({ scope: 'wallet:transfer x402:pay' })
    await openConsent(page, authorization.url)
    await page.getByText('Read the workspace’s agents').waitFor()
    await page.getByRole('checkbox', { name: 'Buy web resources' }).uncheck()
    const last = page.getByRole('checkbox', { name: 'Send USDC' })
    assert.equal(await last.isDisabled(), true)
    await last.press('Space')
    assert.equal(await last.isChecked(), true)
    await approve(page)
    const { tokens } = await connectWith(fixture.host, authorization, await arrive(page))
    assert.equal(tokens.scope, 'wallet:transfer')
  })

  test('a single scope is shown as granted, without a switch', async () => {
    const page = await enterOwner()
    const authorization = app.start({ scope: 'wallet:read' })
    await openConsent(page, authorization.url)
    const scopes = page.getByRole('group', { name: 'What the application can do' })
    await scopes.getByText('Read the workspace’s agents').waitFor()
    assert.equal(await scopes.getByRole('checkbox').count(), 0)
    await approve(page)
    assert.equal((await connectWith(fixture.host, authorization, await arrive(page))).tokens.scope, 'wallet:read')
  })

  test('live mode looks different from test mode, and is repeated next to the Approve button', async () => {
    const page = await enterOwner()
    const authorization = app.start()
    await openConsent(page, authorization.url)
    assert.equal(await page.getByRole('radio', { name: /^Test/ }).isChecked(), true)
    assert.equal(await page.getByText('This is live mode.').count(), 0)
    await page.getByRole('radio', { name: /^Live/ }).check()
    await page.getByText('This is live mode.').waitFor()
    await approve(page)
    assert.equal((await connectWith(fixture.host, authorization, await arrive(page))).me.mode, 'live')
  })

  test('a person who is not signed in signs in first, and returns to the same request', async () => {
    const person = await fixture.enter()
    const { page } = person
    await signUpOverHttp(person, 'Wanda Wayfarer', fixture.host)
    await acceptInvitation(page, fixture.host.workspace.invite_url)
    await signOut(page, 'Wanda Wayfarer')
    const authorization = app.start()
    await page.goto(authorization.url.href)
    await heading(page, 'Sign in').waitFor()
    await page.getByText('An application wants to act for you.').waitFor()
    await signIn(page)
    await consentHeading(page).waitFor()
    await approve(page)
    await connectWith(fixture.host, authorization, await arrive(page))
  })

  test('a person without an account and a workspace creates both first', async () => {
    const { page } = await fixture.enter()
    const authorization = app.start()
    await page.goto(authorization.url.href)
    await page.getByRole('link', { name: 'Create an account' }).click()
    await fillSignUp(page, 'Nina New')
    await consentHeading(page).waitFor()
    await page.getByText('To approve, create a workspace first.').waitFor()
    assert.equal(await button(page, 'Approve').isDisabled(), true)
    await page.getByLabel('Workspace name').fill('Nina’s garden')
    await button(page, 'Create workspace').click()
    await page.getByLabel('New agent ID').fill('gardener')
    await button(page, 'Create agent').click()
    await approve(page)
    const { me } = await connectWith(fixture.host, authorization, await arrive(page))
    assert.equal(me.agent_id, 'gardener')
    assert.match(me.account_slug, /^nina/)
  })

  test('a viewer can read and deny, but not approve, even by submitting the form by script', async () => {
    const owner = await enterOwner()
    await owner.goto(`/w/${fixture.host.workspace.slug}/members`)
    const url = await createInvitation(owner, 'Viewer')
    const approvals = await countApprovals(owner, fixture.host.workspace.slug)
    const person = await fixture.enter()
    const { page } = person
    await signUpOverHttp(person, 'Vera Viewer', fixture.host)
    await acceptInvitation(page, url)
    await openConsent(page, app.start().url)
    await page.getByRole('status').filter({ hasText: 'Viewers can’t approve.' }).waitFor()
    // Without the agent, the submitted form would be refused for another reason.
    await page.getByLabel('Agent', { exact: true }).waitFor()
    assert.equal(await button(page, 'Create a new agent').count(), 0)
    assert.equal(await button(page, 'Approve').isDisabled(), true)

    await submitByScript(page)
    await fact(page, /^Your role in this workspace does not allow this/).waitFor()
    assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals)
    await page.goBack()
    await page.getByRole('status').filter({ hasText: 'Viewers can’t approve.' }).waitFor()
    await page.getByLabel('Agent', { exact: true }).waitFor()
    await button(page, 'Deny').click()
    assert.equal((await arrive(page)).searchParams.get('error'), 'access_denied')
  })

  test('a person who has lost their role since the page was opened cannot approve', async () => {
    const owner = await enterOwner()
    await owner.goto(`/w/${fixture.host.workspace.slug}/members`)
    const url = await createInvitation(owner, 'Admin')
    const person = await fixture.enter()
    const { page } = person
    await signUpOverHttp(person, 'Adam Admin', fixture.host)
    await acceptInvitation(page, url)
    await openConsent(page, app.start().url)
    await approveButton(page)
    await owner.reload()
    const row = owner.getByRole('main').getByRole('listitem').filter({ hasText: 'Adam Admin' })
    await row.getByRole('button', { name: /^Remove/ }).click()
    await confirm(owner, 'Remove member')
    await row.waitFor({ state: 'hidden' })
    const approvals = await countApprovals(owner, fixture.host.workspace.slug)
    await approve(page)
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'wants to act' }).waitFor()
    assert.equal(new URL(page.url()).origin, fixture.host.authUrl)
    assert.equal(await countApprovals(owner, fixture.host.workspace.slug), approvals)
  })

  test('a person who has signed out in another tab signs in again, and then decides again', async () => {
    const person = await fixture.enter()
    const { page } = person
    await joinDemo(person, 'Tim Twotabs', fixture.host)
    const authorization = app.start()
    await openConsent(page, authorization.url)
    await approveButton(page)
    await page.request.post('/console/sign-out', { data: {}, headers: { Origin: fixture.host.authUrl } })
    await approve(page)
    await heading(page, 'Sign in').waitFor()
    await signIn(page)
    await consentHeading(page).waitFor()
    await approve(page)
    await connectWith(fixture.host, authorization, await arrive(page))
  })

  test('"Not you?" leads to another sign-in, and then to the same request', async () => {
    const person = await fixture.enter()
    const { page } = person
    await joinDemo(person, 'Nelly Notme', fixture.host)
    const authorization = app.start()
    await openConsent(page, authorization.url)
    await button(page, 'Not you?').click()
    await page.getByRole('link', { name: 'Create an account' }).click()
    await fillSignUp(page, 'Rita Right')
    await consentHeading(page).waitFor()
    await page.getByText('You are signed in as Rita Right').waitFor()
    await page.getByLabel('Workspace name').waitFor()
  })

  test('a person can choose and approve with the keyboard alone', async () => {
    const page = await enterOwner()
    const authorization = app.start()
    await openConsent(page, authorization.url)
    await tabTo(page, page.getByRole('checkbox', { name: 'Send USDC' }))
    await page.keyboard.press('Space')
    await tabTo(page, page.getByRole('radio', { name: /^Test/ }))
    await page.keyboard.press('ArrowDown')
    await page.getByText('This is live mode.').waitFor()
    await tabTo(page, await approveButton(page))
    await page.keyboard.press('Enter')
    const { me } = await connectWith(fixture.host, authorization, await arrive(page))
    assert.deepEqual([me.mode, me.scopes], ['live', ['wallet:read']])
  })

  test('a page that gets the focus accepts no approval for a moment, and keeps the keyboard focus', async () => {
    const page = await enterOwner()
    await openConsent(page, app.start().url)
    const ready = await approveButton(page)
    await ready.focus()
    await page.evaluate("window.dispatchEvent(new Event('focus'))")
    await page.keyboard.press('Enter')
    await approveButton(page)
    assert.equal(new URL(page.url()).pathname, '/consent', 'the key was meant for another window')
    assert.equal(await hasFocus(page, button(page, 'Approve')), true)
  })

  test('an unknown handle shows no request', async () => {
    const page = await enterOwner()
    for (const path of ['/consent', '/consent?request=', '/consent?request=svc_oar_x', '/consent?request=%00']) {
      await page.goto(path)
      await heading(page, 'This request is no longer open').waitFor()
    }
  })

  // The remaining tests move the clock, so all earlier proofs have expired.

  test('a request that has expired cannot be approved, on a new page or on one that was left open', async () => {
    // The person's proof by passkey is as old as the request. So the page first asks for a new proof.
    const person = await fixture.enter()
    const { page } = person
    await joinDemo(person, 'Lou Late', fixture.host)
    const authorization = app.start()
    await openConsent(page, authorization.url)
    await approveButton(page)
    await fixture.host.control('/clock', { advance_seconds: REQUEST_SECONDS })
    const approvals = await countApprovals(page, fixture.host.workspace.slug)
    await approve(page)
    await fact(page, /has expired/).waitFor()
    await page.goBack()
    await heading(page, 'This request is no longer open').waitFor()
    assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals)
  })

  test('an approval requires a proof by passkey of the last ten minutes, in both modes', async () => {
    const person = await fixture.enter()
    const { page } = person
    await joinDemo(person, 'Petra Proof', fixture.host)
    await fixture.host.control('/clock', { advance_seconds: PROOF_SECONDS + 1 })
    let proofs = 0
    await page.route('**/console/verification', async (route) => {
      proofs += 1
      await route.continue()
    })
    const [test, live] = [app.start(), app.start()]
    await openConsent(page, test.url)
    await approve(page)
    assert.equal((await connectWith(fixture.host, test, await arrive(page))).me.mode, 'test')
    assert.equal(proofs, 1)
    await openConsent(page, live.url)
    await page.getByRole('radio', { name: /^Live/ }).check()
    await approve(page)
    assert.equal((await connectWith(fixture.host, live, await arrive(page))).me.mode, 'live')
    assert.equal(proofs, 1, 'the one from before still counts')
  })

  test('a person at a signed-in browser without its passkey cannot approve, even by submitting the form by script', async () => {
    const person = await fixture.enter()
    const { page, authenticator } = person
    await joinDemo(person, 'Paul Passkeyless', fixture.host)
    await swapAuthenticator(page, authenticator)
    await fixture.host.control('/clock', { advance_seconds: PROOF_SECONDS + 1 })
    const approvals = await countApprovals(page, fixture.host.workspace.slug)
    await openConsent(page, app.start().url)
    await approve(page)
    await page.getByRole('alert').filter({ hasText: 'No passkey was used' }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/consent')
    await submitByScript(page)
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'wants to act' }).waitFor()
    assert.equal(new URL(page.url()).origin, fixture.host.authUrl)
    assert.equal(await countApprovals(page, fixture.host.workspace.slug), approvals)
    await page.goBack()
    await deny(page)
    assert.equal((await arrive(page)).searchParams.get('error'), 'access_denied')
  })
})

/**
 * Submits an approval by script, with the same request that the page sends when a person approves. In these tests, the
 * page itself does not let the person send it.
 */
async function submitByScript(page: Page): Promise<void> {
  await page.evaluate(`
    const form = document.querySelector('form[action="/oauth/consent"]')
    form.elements.namedItem('decision').value = 'approve'
    form.submit()
  `)
}

/** Finds a fact on an error page by its text. */
function fact(page: Page, text: RegExp) {
  return page.getByRole('definition').filter({ hasText: text })
}
