import assert from 'node:assert/strict'
import { afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { button, heading } from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { listWalletPasskeys, loseWalletPasskey } from '../support/browser/signer.ts'
import {
  CREATE_WALLET,
  confirmInSigner,
  createEmptyWallet,
  createWallet,
  enterOwner,
  goTo,
  inSigner,
  postToConsole,
  signGrant,
} from './owner-steps.ts'

const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'
const PHONE = { width: 375, height: 812 }
const TERMS = { maxPerTx: '10', dailyCap: '50' }
const ADD_OWNER = ['Create the passkey', 'Sign the change', 'Confirm the wallet']

/** Each test begins with a new owner, and uses only what a person can see and click. */
describe('how owners keep and use their wallets', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))

  test('a live wallet is at risk until it has a second passkey, and survives the loss of the first', async () => {
    const person = await enterOwner(fixture, 'Olga Owner', 'Spare')
    const { page } = person
    await page.goto(page.url().replace('/test', '/live'))
    await heading(page, 'Overview').waitFor()
    await createEmptyWallet(page, 'Savings')
    const walletPage = page.url()
    await page.getByText('At risk', { exact: true }).waitFor()
    assert.equal(await page.getByText('Network:').count(), 0, 'the deposit address is not shown yet')
    await inspect(page, 'wallet-at-risk')
    await goTo(page, 'Wallets')
    await page.getByRole('row').filter({ hasText: 'Savings' }).getByText('At risk').waitFor()
    await inspect(page, 'wallets-at-risk')
    await goTo(page, 'Overview')
    await page.getByText('Wallets with a single passkey').waitFor()
    await inspect(page, 'overview-at-risk')

    await page.goto(walletPage)
    await button(page, 'Add a second passkey').click()
    await page.getByLabel('New passkey name').fill('Key in the safe')
    await inspect(page, 'wallet-new-owner')
    await inSigner(page, button(page, 'Sign and add'), ADD_OWNER)
    await page.getByRole('listitem').filter({ hasText: 'Key in the safe' }).waitFor()
    await page.getByText('Network:').waitFor()
    assert.equal(await page.getByText('At risk', { exact: true }).count(), 0)
    await inspect(page, 'wallet-two-owners')

    const [first] = listWalletPasskeys(person)
    assert.ok(first !== undefined)
    loseWalletPasskey(person, first)
    await page.getByRole('button', { name: 'Remove Key of Savings' }).click()
    await confirmInSigner(page, 'Sign and remove', ['Sign the change'])
    await page.getByRole('listitem').filter({ hasText: 'Key of Savings' }).waitFor({ state: 'detached' })
    await page.getByText('At risk', { exact: true }).waitFor()
    await signGrant(page, 'live-bot', TERMS)
  })

  test('an owner sees the deposit address of a wallet at risk only after accepting the risk', async () => {
    const { page } = await enterOwner(fixture, 'Rita Risk', 'Brave')
    await page.goto(page.url().replace('/test', '/live'))
    await heading(page, 'Overview').waitFor()
    const address = await createEmptyWallet(page, 'Petty cash')
    const main = page.getByRole('main')
    assert.equal(await main.getByText(address).count(), 0)
    await button(page, 'Show the address anyway. I understand the risk').click()
    await main.getByText(address).waitFor()
    await page.reload()
    await main.getByText(address).waitFor()
  })

  test('an owner withdraws an amount, and then everything', async () => {
    const { page } = await enterOwner(fixture, 'Wilma Withdrawal', 'Outflow')
    await createWallet(page, 'Main wallet')
    const walletPage = page.url()
    await page.getByRole('link', { name: 'Withdraw' }).click()
    await heading(page, 'Withdraw').waitFor()
    await inspect(page, 'withdraw')
    await page.getByLabel('Address').fill(RECIPIENT.replace(/E7$/, 'e7'))
    await page.getByLabel('Amount', { exact: true }).fill('12.5')
    await button(page, 'Review withdrawal').click()
    await page.getByText('“0x5290…9Ee7” is not a valid address').waitFor()
    await page.getByLabel('Address').fill(RECIPIENT)
    await button(page, 'Review withdrawal').click()
    await heading(page, 'Review the withdrawal').waitFor()
    await inspect(page, 'withdraw-review')
    const [shown = ''] = await inSigner(page, button(page, 'Sign and withdraw'), ['Sign the withdrawal'])
    assert.match(shown, /12\.50 USDC/)
    assert.match(shown, new RegExp(RECIPIENT, 'i'))
    await page.waitForURL(/\/payments\/pay_/)
    await page.getByRole('main').getByText('Confirmed', { exact: true }).first().waitFor()
    await inspect(page, 'withdrawal')

    await page.goto(walletPage)
    await page.getByText('87.50').first().waitFor()
    await postToConsole(page, 'recipients', { mode: 'test', address: RECIPIENT, label: 'Cold storage' })
    await page.getByRole('link', { name: 'Withdraw' }).click()
    await page.getByLabel('Recipient').selectOption({ label: 'Cold storage (0x5290…9EE7)' })
    await page.getByText('Everything').click()
    await button(page, 'Review withdrawal').click()
    await page.getByText('(everything)').waitFor()
    const [all = ''] = await inSigner(page, button(page, 'Sign and withdraw'), ['Sign the withdrawal'])
    assert.match(all, /87\.50 USDC/)
    assert.match(all, /Cold storage/)
    await page.waitForURL(/\/payments\/pay_/)
    await page.getByRole('main').getByText('Confirmed', { exact: true }).first().waitFor()
    await goTo(page, 'Payments')
    for (const amount of ['12.50', '87.50']) {
      await page.getByRole('row').filter({ hasText: amount }).getByText('Withdrawal').waitFor()
    }
    await inspect(page, 'payments-withdrawals')
    await goTo(page, 'Overview')
    await page.getByText('Withdrawal').first().waitFor()
    await inspect(page, 'overview-withdrawals')
    await page.goto(walletPage)
    await page.getByRole('region', { name: 'Balance' }).getByText('0.00').waitFor()
  })

  test('a suspended grant is resumed with one signature, on a phone', async () => {
    const { page } = await enterOwner(fixture, 'Paul Phone', 'Pocket')
    await page.setViewportSize(PHONE)
    const wallet = await createWalletOnPhone(page, 'Phone wallet')
    await page.goto(page.url().replace(/wallets.*/, 'grants/new'))
    await page.getByLabel('New agent ID').fill('pocket-bot')
    await page.getByLabel('Per-payment limit').fill('10')
    await page.getByLabel('24-hour limit').fill('50')
    await page.getByText('Any recipient', { exact: true }).click()
    await button(page, 'Review and sign').click()
    const [terms = ''] = await inSigner(page, button(page, 'Sign with your wallet passkey'), ['Sign the limits'])
    assert.match(terms, /10\.00 USDC|10 USDC/)
    assert.match(terms, /At most in 24 hours\s+50\.00 USDC/)
    assert.match(terms, /pocket-bot/)
    await page.getByRole('main').getByText('Active', { exact: true }).first().waitFor()
    await page.getByText('Covers all terms.').waitFor()
    await button(page, 'Suspend').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Suspend grant' }).click()
    await page.getByRole('main').getByText('Suspended', { exact: true }).first().waitFor()
    await inspect(page, 'grant-resume')
    await inSigner(page, button(page, 'Resume'), ['Sign and resume the grant'])
    await page.getByRole('main').getByText('Active', { exact: true }).first().waitFor()
    await page.getByRole('main').getByText('Suspended', { exact: true }).waitFor({ state: 'detached' })
    await page.getByText('Signed.').waitFor()
    assert.ok(wallet.startsWith('0x'))
  })

  test('wallet passkeys are added, renamed and deleted on the account page', async () => {
    const { page } = await enterOwner(fixture, 'Karl Keys', 'Ring')
    await page.goto('/account')
    await page.getByLabel('New wallet passkey name').fill('Blue key')
    await inSigner(page, button(page, 'Add a wallet passkey'), ['Create the passkey'])
    await button(page, 'Rename Blue key').click()
    await page.getByLabel('Name', { exact: true }).fill('Green key')
    await button(page, 'Save').click()
    await button(page, 'Delete Green key').waitFor()
    await inspect(page, 'account-wallet-passkeys')
    await button(page, 'Delete Green key').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete passkey' }).click()
    await page.getByText('No wallet passkeys yet.').waitFor()
  })

  test('closing or canceling the signer window changes nothing, and the page says so', async () => {
    const { page } = await enterOwner(fixture, 'Carl Cancel', 'Stop')
    await page.goto('/account')
    await page.getByLabel('New wallet passkey name').fill('Blue key')
    await inSigner(page, button(page, 'Add a wallet passkey'), ['Cancel'])
    await page.getByRole('alert').getByText('You canceled in the signer window.').waitFor()
    const [popup] = await Promise.all([page.waitForEvent('popup'), button(page, 'Add a wallet passkey').click()])
    await button(page, 'Show the signer window').waitFor()
    // Only the signer window may answer: a message from another window, or from this page itself, is ignored.
    await page.evaluate("postMessage({ bursar: 'canceled' }, location.origin)")
    await inspect(page, 'account-waiting')
    await popup.close()
    await page.getByRole('alert').getByText('The signer window was closed before you finished.').waitFor()
    const [second] = await Promise.all([page.waitForEvent('popup'), button(page, 'Add a wallet passkey').click()])
    const closed = second.waitForEvent('close')
    await button(page, 'Stop').click()
    await closed
    await page.getByText('No wallet passkeys yet.').waitFor()
  })

  test('if the browser blocks the signer window, another click opens it', async () => {
    const { page } = await enterOwner(fixture, 'Berta Blocked', 'Popups')
    await page.goto('/account')
    await page.getByLabel('New wallet passkey name').fill('Blue key')
    await page.evaluate('window.openKept = window.open; window.open = () => null')
    await button(page, 'Add a wallet passkey').click()
    await page.getByText('Your browser did not open the signer window.').waitFor()
    await inspect(page, 'account-blocked')
    await page.evaluate('window.open = window.openKept')
    await inSigner(page, button(page, 'Open the signer window'), ['Create the passkey'])
    await button(page, 'Rename Blue key').waitFor()
  })

  /** Inspects the page on several screens. Afterwards, the page has its earlier size again. */
  async function inspect(page: Page, name: string): Promise<void> {
    const size = page.viewportSize()
    await inspectPage(page, name)
    if (size !== null) await page.setViewportSize(size)
  }

  /** The navigation is in a menu on a phone, so this opens the page by its address. */
  async function createWalletOnPhone(page: Page, name: string): Promise<string> {
    await page.goto(`${page.url().replace(/\/test.*/, '/test')}/wallets`)
    await button(page, 'New wallet').click()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('New passkey name').fill('Phone')
    await inspect(page, 'wallet-new')
    await inSigner(page, button(page, 'Create wallet'), CREATE_WALLET)
    await heading(page, name).waitFor()
    return new URL(page.url()).pathname.split('/').at(-1) ?? ''
  }
})
