import { afterEach, before, describe, test } from 'node:test'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { button, confirm, heading, readRecoveryCodes, signOut, signUp } from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'

describe('the pages about a person, in both themes and at every width', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))

  test('the pages for signing up and signing in', async () => {
    const person = await fixture.enter()
    const { page } = person
    await page.goto('/sign-in')
    await heading(page, 'Sign in').waitFor()
    await inspectPage(page, 'sign-in')
    await button(page, 'Sign in with a passkey').click()
    await page.getByRole('alert').filter({ hasText: 'No passkey was used' }).waitFor()
    await inspectPage(page, 'sign-in-refused')
    await page.goto('/sign-up')
    await page.getByLabel('Your name').fill('Ada Lovelace')
    await inspectPage(page, 'sign-up')
    await button(page, 'Create a passkey').click()
    const [code = ''] = await readRecoveryCodes(page)
    await inspectPage(page, 'recovery-codes')
    await button(page, 'I have saved them').click()
    await signOut(page, 'Ada Lovelace')
    await page.goto('/recover')
    await heading(page, 'Use a recovery code').waitFor()
    await inspectPage(page, 'recover')
    await page.getByLabel('Recovery code').fill(code)
    await button(page, 'Sign in').click()
    await heading(page, 'Add a passkey').waitFor()
    await inspectPage(page, 'recover-passkey')
  })

  test('the pages of an invitation, and of one that is not valid', async () => {
    const { page } = await fixture.enter()
    await page.goto(fixture.host.workspace.invite_url)
    await heading(page, 'Join demo').waitFor()
    await inspectPage(page, 'invitation-signed-out')
    await signUp(page, 'Ada Lovelace', fixture.host.workspace.invite_url.replace('/invite/', '/sign-up?next=/invite/'))
    await button(page, 'Join demo').waitFor()
    await inspectPage(page, 'invitation')
    await page.goto('/invite/svc_inv_nothing')
    await heading(page, 'This invitation can’t be used').waitFor()
    await inspectPage(page, 'invitation-used')
    await page.goto('/nowhere/at/all')
    await heading(page, 'Page not found').waitFor()
    await inspectPage(page, 'not-found')
    await page.goto('/oauth/authorize?client_id=svc_client_nobody')
    await heading(page, 'The application could not be connected').waitFor()
    await inspectPage(page, 'authorization-error')
  })

  test('the pages of an account', async () => {
    const { page } = await fixture.enter()
    await signUp(page, 'Ada Lovelace')
    await inspectPage(page, 'home-empty')
    await page.goto('/account')
    await page.getByText('This is your only passkey').waitFor()
    await inspectPage(page, 'account')
    await button(page, 'Generate new codes').click()
    await page.getByRole('alertdialog').waitFor()
    await inspectPage(page, 'account-dialog')
    await confirm(page, 'Generate new codes')
    await button(page, 'I have saved them').waitFor()
    await inspectPage(page, 'account-codes')
  })
})
