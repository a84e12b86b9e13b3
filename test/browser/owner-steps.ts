import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { confirm, button, heading, openOverview } from '../support/browser/pages.ts'
import { signUpOwner } from '../support/browser/sign-up-over-http.ts'
import { listWalletPasskeys, onOtherDevice, withSigner } from '../support/browser/signer.ts'
import type { BrowserFixture } from '../support/browser/browser-fixture.ts'
import type { Person } from '../support/browser/launch-browser.ts'

/** The actions of an owner in test mode, through the links and buttons of the workspace's pages. */

/** The button of the signer page that creates a passkey. */
const CREATE = 'Create the passkey'

/** The buttons of the signer page that create a wallet with a new passkey. */
export const CREATE_WALLET = [CREATE, 'Confirm the wallet'] as const

/** Adds a new person with a workspace of their own. Afterwards, the browser shows the workspace's overview. */
export async function enterOwner(fixture: BrowserFixture, name: string, workspace: string): Promise<Person> {
  const person = await fixture.enter()
  const slug = await signUpOwner(person, name, { authUrl: fixture.host.authUrl, workspace })
  await openOverview(person.page, { slug })
  return person
}

/** Follows a link in the workspace's navigation. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page
    .getByRole('navigation', { name: /^Workspace / })
    .getByRole('link', { name, exact: true })
    .click()
  await heading(page, name).waitFor()
}

/**
 * Creates a wallet and funds it with 100 USDC. Returns its address. Afterwards, the browser shows the wallet's page.
 */
export async function createWallet(page: Page, name: string): Promise<string> {
  const address = await createEmptyWallet(page, name)
  await button(page, 'Get 100 test USDC').click()
  await page.getByRole('status').filter({ hasText: '100.00 USDC received.' }).waitFor()
  return address
}

/**
 * Creates a wallet with a new wallet passkey, and confirms it. Returns its address. Afterwards, the browser shows the
 * wallet's page.
 */
export async function createEmptyWallet(page: Page, name: string): Promise<string> {
  await goTo(page, 'Wallets')
  await button(page, 'New wallet').click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('New passkey name').fill(`Key of ${name}`)
  await inSigner(page, button(page, 'Create wallet'), CREATE_WALLET)
  await heading(page, name).waitFor()
  return decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
}

/**
 * Clicks a button that opens the signer window, and presses these buttons there, one after the other. Returns the texts
 * that the signer window showed beside each of them. Afterwards, the window is closed.
 */
export async function inSigner(page: Page, opener: Locator, presses: readonly string[]): Promise<string[]> {
  return await pressInSigner(page, () => opener.click(), presses)
}

/** Confirms the open dialog with a button that opens the signer window, and presses these buttons there. */
export async function confirmInSigner(page: Page, yes: string, presses: readonly string[]): Promise<string[]> {
  return await pressInSigner(page, () => confirm(page, yes), presses)
}

/** Like `inSigner`, for any action that opens the signer window. */
export async function pressInSigner(
  page: Page,
  open: () => Promise<void>,
  presses: readonly string[],
): Promise<string[]> {
  const opening = page.waitForEvent('popup')
  await open()
  const popup = await opening
  const closed = popup.waitForEvent('close')
  const person = { context: page.context() }
  const texts = await withSigner(page, person, async (signer, authenticator) => {
    const shown: string[] = []
    const pressOne = async (name: string): Promise<void> => {
      const press = signer.getByRole('button', { name, exact: true, disabled: false })
      await press.waitFor()
      shown.push(await signer.getByRole('main').innerText())
      await press.click()
      // The last press closes the window, and this wait may then fail.
      await press.waitFor({ state: 'detached' }).catch(() => undefined)
    }
    const hasPasskey = listWalletPasskeys(person).length > 0
    for (const name of presses) {
      const create = (): Promise<void> => pressOne(name)
      // A device keeps one wallet passkey of a person, so the second one is created on another device.
      if (name === CREATE && hasPasskey) await onOtherDevice(authenticator, person, create)
      else await create()
    }
    return shown
  })
  await closed
  return texts
}

export interface GrantTerms {
  readonly maxPerTx: string
  readonly dailyCap: string
}

/**
 * Signs a grant that allows any recipient, for a new agent on the workspace's only wallet. Afterwards, the browser
 * shows the grant's page.
 */
export async function signGrant(page: Page, agentId: string, { maxPerTx, dailyCap }: GrantTerms): Promise<void> {
  await goTo(page, 'Grants')
  await page.getByRole('link', { name: 'New grant' }).first().click()
  await page.getByLabel('New agent ID').fill(agentId)
  await page.getByLabel('Per-payment limit').fill(maxPerTx)
  await page.getByLabel('24-hour limit').fill(dailyCap)
  await page.getByText('Any recipient', { exact: true }).click()
  await button(page, 'Review and sign').click()
  await signWithPasskey(page)
}

/** Signs the grant whose page is open, and waits until the page shows that the grant is active. */
export async function signWithPasskey(page: Page): Promise<void> {
  await inSigner(page, button(page, 'Sign with your wallet passkey'), ['Sign the limits'])
  await page.getByRole('main').getByText('Active', { exact: true }).first().waitFor()
}

/** Creates a key, closes the dialog with its secret, and returns the secret. */
export async function createKey(page: Page, name: string): Promise<string> {
  await goTo(page, 'API keys')
  await button(page, 'Create a key').click()
  await page.getByLabel('Key name').fill(name)
  await button(page, 'Create key').click()
  const secret = await page.getByLabel('API key', { exact: true }).inputValue()
  await button(page, 'I have saved it').click()
  return secret
}

/** Adds a webhook endpoint that is subscribed to every kind of event. */
export async function addEndpoint(page: Page, url: string): Promise<void> {
  await goTo(page, 'Webhooks')
  await button(page, 'Add endpoint').click()
  await page.getByLabel('URL', { exact: true }).fill(url)
  await button(page, 'Add endpoint').click()
  await button(page, 'I have saved it').click()
}

/** Clicks a button that opens a confirmation dialog, and confirms. */
export async function doAndConfirm(page: Page, label: string | RegExp, yes: string): Promise<void> {
  await page.getByRole('main').getByRole('button', { name: label }).first().click()
  await confirm(page, yes)
}

/**
 * Sends a request as the signed-in person to the workspace whose page the browser shows. The path is relative to this
 * workspace.
 */
export async function postToConsole<Body>(page: Page, path: string, data: object): Promise<Body> {
  const { origin, pathname } = new URL(page.url())
  const [, slug] = /^\/w\/([^/]+)/.exec(pathname) ?? assert.fail(`${pathname} is no page of a workspace`)
  const answer = await page.request.post(`/console/workspaces/${slug}/${path}`, { data, headers: { origin } })
  assert.ok(answer.ok(), await answer.text())
  return (await answer.json()) as Body
}
