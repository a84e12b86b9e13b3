import assert from 'node:assert/strict'
import { afterEach, before, describe, test } from 'node:test'
import { readCredentials, swapAuthenticator } from '../support/browser/launch-browser.ts'
import {
  button,
  confirm,
  fillSignUp,
  heading,
  personMenu,
  readRecoveryCodes,
  signIn,
  signOut,
  signUp,
  tabTo,
} from '../support/browser/pages.ts'
import { openClockBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'

const CODE_PATTERN = /^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}$/
/** A proof by passkey is valid for ten minutes, here in seconds. */
const PROOF_SECONDS = 10 * 60

describe('people and their passkeys, in a browser', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openClockBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))

  test('a person signs up, sees ten recovery codes once, signs out, and signs in without a name', async () => {
    const { page } = await fixture.enter()
    const codes = await signUp(page, 'Ada Lovelace')
    assert.equal(codes.length, 10)
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, CODE_PATTERN)
    await heading(page, 'Your workspaces').waitFor()

    // The recovery codes are shown only once: neither the back button nor the account page shows them again.
    await page.goBack()
    await page.goto('/account')
    await page.getByText('You have 10 codes left').waitFor()
    assert.equal((await page.content()).includes(String(codes[0])), false)

    await signOut(page, 'Ada Lovelace')
    await page.goto('/account')
    await heading(page, 'Sign in').waitFor()
    await signIn(page)
    await heading(page, 'Your account').waitFor()
    await page.getByText('You are signed in as Ada Lovelace.').waitFor()
  })

  test('after signing out, going back shows nothing of the person', async () => {
    const { page } = await fixture.enter()
    await signUp(page, 'Grace Hopper')
    await page.goto('/account')
    await heading(page, 'Your account').waitFor()
    await signOut(page, 'Grace Hopper')
    await page.goBack()
    await heading(page, 'Sign in').waitFor()
    assert.equal((await page.content()).includes('Grace Hopper'), false)
  })

  test('an old proof is renewed before a second passkey is added, which can sign in after the first one was removed', async () => {
    const person = await fixture.enter()
    const { page } = person
    await signUp(page, 'Mary Shelley')
    const first = await readCredentials(person.authenticator)
    await fixture.host.control('/clock', { advance_seconds: PROOF_SECONDS + 1 })

    // The person first proves their identity with the device of the sign-up, and then uses another device for the new
    // passkey.
    let asked = 0
    let second = person.authenticator
    await page.route('**/console/verification', async (route) => {
      asked += 1
      second = await swapAuthenticator(page, person.authenticator)
      await route.continue()
    })
    await page.goto('/account')
    await page.getByLabel('New passkey name', { exact: true }).fill('Blue key')
    await button(page, 'Add a passkey').click()
    await page.getByRole('listitem').filter({ hasText: 'Blue key' }).waitFor()
    assert.equal(asked, 1, 'the proof was asked for, once')
    assert.equal((await readCredentials(second)).length, 1)

    const rows = page.getByRole('region', { name: 'Passkeys' }).getByRole('listitem')
    assert.equal(await rows.count(), 2)
    await rows
      .filter({ hasNotText: 'Blue key' })
      .getByRole('button', { name: /^Remove/ })
      .click()
    await confirm(page, 'Remove passkey')
    await rows.first().waitFor()
    assert.equal(await rows.count(), 1)
    assert.equal(asked, 1, 'the proof is new enough')

    await signOut(page, 'Mary Shelley')
    await signIn(page)
    await heading(page, 'Your workspaces').waitFor()

    await signOut(page, 'Mary Shelley')
    await swapAuthenticator(page, second, first)
    await signIn(page)
    await page
      .getByRole('alert')
      .filter({ hasText: /passkey/ })
      .waitFor()
    await heading(page, 'Sign in').waitFor()
  })

  test('the only passkey can be renamed, and its removal is not offered', async () => {
    const { page } = await fixture.enter()
    await signUp(page, 'Emmy Noether')
    await page.goto('/account')
    const row = page.getByRole('region', { name: 'Passkeys', exact: true }).getByRole('listitem')
    await row.getByText('This is your only passkey').waitFor()
    assert.equal(await row.getByRole('button', { name: /^Remove/ }).count(), 0)
    await row.getByRole('button', { name: /^Rename/ }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByLabel('New name').fill('Blue key')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await row.getByText('Blue key').waitFor()
  })

  test('a recovery code signs in once, however it is typed, and then a new passkey can be created', async () => {
    const person = await fixture.enter()
    const { page } = person
    const [code = ''] = await signUp(page, 'Hedy Lamarr')
    await signOut(page, 'Hedy Lamarr')
    // From here on, the person no longer has the device with the passkey.
    const device = await swapAuthenticator(page, person.authenticator)

    await page.getByRole('link', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(` ${code.toLowerCase().replaceAll('-', ' ')} `)
    await button(page, 'Sign in').click()
    await page.getByText('You have 9 codes left').waitFor()
    await page.getByLabel('Passkey name').fill('New phone')
    await button(page, 'Add a passkey').click()
    await heading(page, 'Your workspaces').waitFor()
    assert.equal((await readCredentials(device)).length, 1)

    await signOut(page, 'Hedy Lamarr')
    await signIn(page)
    await heading(page, 'Your workspaces').waitFor()

    await signOut(page, 'Hedy Lamarr')
    await page.goto('/recover')
    await page.getByLabel('Recovery code').fill(code)
    await button(page, 'Sign in').click()
    await page.getByRole('alert').filter({ hasText: /code/ }).waitFor()
    await page.goto('/account')
    await heading(page, 'Sign in').waitFor()
  })

  test('new recovery codes replace the old ones', async () => {
    const { page } = await fixture.enter()
    const [old = ''] = await signUp(page, 'Rosa Luxemburg')
    await page.goto('/account')
    await button(page, 'Generate new codes').click()
    await confirm(page, 'Generate new codes')
    const fresh = (await readRecoveryCodes(page)).filter((text) => CODE_PATTERN.test(text))
    assert.equal(fresh.length, 10)
    assert.equal(fresh.includes(old), false)
    await button(page, 'I have saved them').click()

    await signOut(page, 'Rosa Luxemburg')
    await page.goto('/recover')
    await page.getByLabel('Recovery code').fill(old)
    await button(page, 'Sign in').click()
    await page.getByRole('alert').filter({ hasText: /code/ }).waitFor()
    await page.getByLabel('Recovery code').fill(fresh[9] ?? '')
    await button(page, 'Sign in').click()
    await page.getByText('You have 9 codes left').waitFor()
  })

  test('a person can sign out everywhere else, and stays signed in here', async () => {
    const { page } = await fixture.enter()
    const [code = ''] = await signUp(page, 'Lise Meitner')
    const elsewhere = (await fixture.enter()).page
    await elsewhere.goto('/recover')
    await elsewhere.getByLabel('Recovery code').fill(code)
    await button(elsewhere, 'Sign in').click()
    await button(elsewhere, 'Continue without a passkey').click()
    await heading(elsewhere, 'Your workspaces').waitFor()

    await page.goto('/account')
    await button(page, 'Sign out everywhere else').click()
    await page.getByRole('status').filter({ hasText: /\S/ }).waitFor()
    await elsewhere.reload()
    await heading(elsewhere, 'Sign in').waitFor()
    await page.reload()
    await heading(page, 'Your account').waitFor()
  })

  test('if the device has no passkey of ours, the page says so, and the person stays signed out', async () => {
    const { page } = await fixture.enter()
    await page.goto('/sign-in')
    await signIn(page)
    await page.getByRole('alert').filter({ hasText: 'No passkey was used' }).waitFor()
    await heading(page, 'Sign in').waitFor()
  })

  test('a person can sign up, look around and sign out with the keyboard alone', async () => {
    const { page } = await fixture.enter()
    const press = async (name: string, role: 'button' | 'link', key: string): Promise<void> => {
      await tabTo(page, page.getByRole(role, { name, exact: true }))
      await page.keyboard.press(key)
    }
    await page.goto('/')
    await press('Create an account', 'link', 'Enter')
    await heading(page, 'Create an account').waitFor()
    await tabTo(page, page.getByLabel('Your name'))
    await page.keyboard.type('Katherine Johnson')
    await page.keyboard.press('Enter')
    await heading(page, 'Save your recovery codes').waitFor()
    await press('I have saved them', 'button', 'Space')
    await heading(page, 'Your workspaces').waitFor()

    const menu = personMenu(page)
    await press('Katherine Johnson', 'button', 'Enter')
    await tabTo(page, menu.getByRole('link', { name: 'Your account' }))
    await page.keyboard.press('Escape')
    await menu.waitFor({ state: 'hidden' })
    await press('Katherine Johnson', 'button', 'Space')
    await tabTo(page, menu.getByRole('button', { name: 'Sign out' }))
    await page.keyboard.press('Enter')
    await heading(page, 'Sign in').waitFor()
  })

  test('a link to our sign-in page cannot lead to another site', async () => {
    const { page } = await fixture.enter()
    for (const next of ['https://evil.example/', '//evil.example/', '/\\evil.example/', '/%09/evil.example']) {
      await page.goto(`/sign-up?next=${encodeURIComponent(next)}`)
      assert.equal(new URL(page.url()).origin, fixture.host.authUrl)
    }
    await page.goto(`/sign-up?next=${encodeURIComponent('//evil.example/')}`)
    await fillSignUp(page, 'Ida Rhodes')
    await heading(page, 'Your workspaces').waitFor()
    assert.equal(new URL(page.url()).origin, fixture.host.authUrl)
  })
})
