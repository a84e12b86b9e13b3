import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { confirm, button, heading, signUp } from '../support/browser/pages.ts'
import type { BrowserFixture } from '../support/browser/browser-fixture.ts'
import type { Person } from '../support/browser/launch-browser.ts'

/** The steps of an owner in a workspace, in test mode, through the links and buttons of its pages. */

/** Signs up a person who creates a workspace. Ends on its overview. */
export async function enterOwner(fixture: BrowserFixture, name: string, workspace: string): Promise<Person> {
  const person = await fixture.enter()
  await signUp(person.page, name)
  await person.page.getByLabel('Workspace name').fill(workspace)
  await button(person.page, 'Create workspace').click()
  await heading(person.page, 'Overview').waitFor()
  return person
}

/** Follows a link of the workspace's navigation. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page
    .getByRole('navigation', { name: /^Workspace / })
    .getByRole('link', { name, exact: true })
    .click()
  await heading(page, name).waitFor()
}

/** Creates a wallet. Ends on its page, with 100 USDC in the wallet, and returns its address. */
export async function createWallet(page: Page, name: string): Promise<string> {
  await goTo(page, 'Wallets')
  await button(page, 'New wallet').click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await button(page, 'Create wallet').click()
  await heading(page, name).waitFor()
  await button(page, 'Get 100 test USDC').click()
  await page.getByRole('status').filter({ hasText: '100.00 USDC received.' }).waitFor()
  return decodeURIComponent(new URL(page.url()).pathname.split('/').at(-1) ?? '')
}

export interface GrantTerms {
  readonly maxPerTx: string
  readonly dailyCap: string
}

/** Signs a grant for a new agent on the only wallet. Ends on the grant's page. */
export async function signGrant(page: Page, agentId: string, { maxPerTx, dailyCap }: GrantTerms): Promise<void> {
  await goTo(page, 'Grants')
  await page.getByRole('link', { name: 'New grant' }).first().click()
  await page.getByLabel('New agent ID').fill(agentId)
  await page.getByLabel('Per-payment limit').fill(maxPerTx)
  await page.getByLabel('24-hour limit').fill(dailyCap)
  await button(page, 'Review and sign').click()
  await signWithPasskey(page)
}

/** Signs on the page of a grant that waits for its signature. */
export async function signWithPasskey(page: Page): Promise<void> {
  await button(page, 'Sign with your passkey').click()
  await page.getByRole('main').getByText('Active', { exact: true }).first().waitFor()
}

/** Creates a key, and returns its secret. Afterwards the page no longer shows the secret. */
export async function createKey(page: Page, name: string): Promise<string> {
  await goTo(page, 'API keys')
  await button(page, 'Create a key').click()
  await page.getByLabel('Key name').fill(name)
  await button(page, 'Create key').click()
  const secret = await page.getByLabel('API key', { exact: true }).inputValue()
  await button(page, 'I have saved it').click()
  return secret
}

/** Adds a webhook endpoint for every kind of event. */
export async function addEndpoint(page: Page, url: string): Promise<void> {
  await goTo(page, 'Webhooks')
  await button(page, 'Add endpoint').click()
  await page.getByLabel('URL', { exact: true }).fill(url)
  await button(page, 'Add endpoint').click()
  await button(page, 'I have saved it').click()
}

/** Clicks a button that asks for confirmation, and confirms. */
export async function doAndConfirm(page: Page, label: string | RegExp, yes: string): Promise<void> {
  await page.getByRole('main').getByRole('button', { name: label }).first().click()
  await confirm(page, yes)
}

/**
 * Sends a request that a page of the workspace could send, as the signed-in person. The page must show the workspace.
 */
export async function postToConsole<Body>(page: Page, path: string, data: object): Promise<Body> {
  const { origin, pathname } = new URL(page.url())
  const [, slug] = /^\/w\/([^/]+)/.exec(pathname) ?? assert.fail(`${pathname} is no page of a workspace`)
  const answer = await page.request.post(`/console/workspaces/${slug}/${path}`, { data, headers: { origin } })
  assert.ok(answer.ok(), await answer.text())
  return (await answer.json()) as Body
}
