import type { Locator, Page } from 'playwright-core'

/**
 * The actions of a person on the dashboard's pages. Elements are found by role and name, as assistive technology finds
 * them.
 */

const TABS_MAX = 60

/**
 * Signs up from the dashboard's page at `path`, and returns the recovery codes. Afterwards, the browser shows that page
 * again.
 */
export async function signUp(page: Page, name: string, path = '/sign-up'): Promise<string[]> {
  await page.goto(path)
  return await fillSignUp(page, name)
}

/** Signs up on the sign-up page, which must be open. Returns the recovery codes. */
export async function fillSignUp(page: Page, name: string): Promise<string[]> {
  await page.getByLabel('Your name').fill(name)
  await button(page, 'Create a passkey').click()
  const codes = await readRecoveryCodes(page)
  await button(page, 'I have saved them').click()
  await heading(page, 'Save your recovery codes').waitFor({ state: 'hidden' })
  return codes
}

export async function readRecoveryCodes(page: Page): Promise<string[]> {
  await button(page, 'I have saved them').waitFor()
  const texts = await page.getByRole('main').getByRole('listitem').allInnerTexts()
  return texts.map((text) => text.trim())
}

export async function signOut(page: Page, name: string): Promise<void> {
  await button(page, name).click()
  await personMenu(page).getByRole('button', { name: 'Sign out' }).click()
  await heading(page, 'Sign in').waitFor()
}

/** Finds the menu that opens after a click on the person's name. */
export function personMenu(page: Page): Locator {
  return page.getByRole('navigation', { name: 'Workspaces and account' })
}

/** Loads the overview of a workspace in test mode. The signed-in person must be a member of it. */
export async function openOverview(page: Page, { slug }: { readonly slug: string }): Promise<void> {
  await page.goto(`/w/${slug}/test`)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/**
 * Shows another page of a workspace, as a link would. The dashboard, which must be open, is not loaded again. So the
 * browser does not have to compile its code and that of axe for each page. The server sends the same file for every
 * page of a workspace.
 */
export async function showPage(page: Page, { slug }: { readonly slug: string }, path: string): Promise<void> {
  // The page before may have the same heading, so one with another heading is shown in between.
  await follow(page, `/w/${slug}/test/nowhere`)
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
  await follow(page, `/w/${slug}/test/${path}`)
}

/** Changes the page's address, and tells the dashboard's router so. */
async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`
    history.pushState(null, '', ${JSON.stringify(path)})
    dispatchEvent(new PopStateEvent('popstate'))
  `)
}

/** Signs in on the sign-in page, which must be open. */
export async function signIn(page: Page): Promise<void> {
  await button(page, 'Sign in with a passkey').click()
}

/** Opens an authorization URL as an application would. Afterwards, the browser shows the consent page. */
export async function openConsent(page: Page, url: URL): Promise<void> {
  await page.goto(url.href)
  await consentHeading(page).waitFor()
}

export function consentHeading(page: Page): Locator {
  return page.getByRole('heading', { level: 1, name: /wants to act for you$/ })
}

/**
 * Returns the Approve button once it is enabled. The page enables it after a moment, so that nobody approves by
 * accident.
 */
export async function approveButton(page: Page): Promise<Locator> {
  const approve = page.getByRole('button', { name: 'Approve', disabled: false })
  await approve.waitFor()
  return approve
}

export async function approve(page: Page): Promise<void> {
  await (await approveButton(page)).click()
}

/**
 * Denies the request of an application. Waits first until it could be approved, because the buttons move while the page
 * loads its data.
 */
export async function deny(page: Page): Promise<void> {
  await approveButton(page)
  await button(page, 'Deny').click()
}

/** Opens the link of an invitation as a signed-in person, and accepts it. */
export async function acceptInvitation(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('button', { name: /^Join / }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Counts the approved connections in the audit log of a workspace. The signed-in person must be a member of it. */
export async function countApprovals(page: Page, slug: string): Promise<number> {
  const response = await page.request.get(`/console/workspaces/${slug}/audit`)
  const { entries } = (await response.json()) as { entries: readonly { action: string }[] }
  return entries.filter(({ action }) => action === 'connection.approved').length
}

/**
 * Confirms the open dialog, and waits until it is closed. While it is open, no other element of the page can be found.
 */
export async function confirm(page: Page, name: string): Promise<void> {
  const dialog = page.getByRole('alertdialog')
  await dialog.getByRole('button', { name, exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
}

/** Creates an invitation on the members page, which must be open. Returns the invitation's link. */
export async function createInvitation(page: Page, role: 'Viewer' | 'Admin' | 'Owner'): Promise<string> {
  await page.getByLabel('Role', { exact: true }).selectOption(role)
  await button(page, 'Create link').click()
  return await page.getByLabel(`Link for a new ${role.toLowerCase()}`).inputValue()
}

/** Presses the Tab key until the element has the keyboard focus, like a person without a mouse. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    if (await hasFocus(page, target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not lead to ${String(target)}`)
}

export async function hasFocus(page: Page, target: Locator): Promise<boolean> {
  return (await target.and(page.locator(':focus')).count()) === 1
}

export function button(page: Page, name: string): Locator {
  return page.getByRole('button', { name, exact: true })
}

export function heading(page: Page, name: string): Locator {
  return page.getByRole('heading', { name, exact: true })
}
