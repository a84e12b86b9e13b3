import assert from 'node:assert/strict'
import { afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { acceptInvitation, confirm, createInvitation, openOverview, showPage } from '../support/browser/pages.ts'
import { createKey, signUpOverHttp, signUpOwner } from '../support/browser/sign-up-over-http.ts'

/** After a restore of the service, keys are held until an owner has confirmed them (D96a). */
describe('API keys on hold, in a browser', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))

  test('every page says so, an admin sees the list, and an owner confirms keys by name', async () => {
    const { authUrl } = fixture.host
    const owner = await fixture.enter()
    const slug = await signUpOwner(owner, 'Olive Owner', { authUrl, workspace: 'Orchard' })
    const payroll = await createKey(owner, { authUrl, slug, mode: 'live', name: 'Payroll' })
    const scraper = await createKey(owner, { authUrl, slug, mode: 'test', name: 'Scraper' })
    const old = await createKey(owner, { authUrl, slug, mode: 'test', name: 'Old laptop' })
    await openOverview(owner.page, { slug })
    assert.equal(await banner(owner.page).count(), 0)
    await showPage(owner.page, { slug }, 'members')
    const url = await createInvitation(owner.page, 'Admin')
    assert.equal(await fixture.host.statusOfMe(payroll), 200)

    await hold(slug)
    assert.deepEqual(await statuses([payroll, scraper, old]), [403, 403, 403])
    const admin = await fixture.enter()
    await signUpOverHttp(admin, 'Ann Admin', fixture.host)
    await acceptInvitation(admin.page, url)
    await banner(admin.page).getByRole('link', { name: 'See the keys' }).click()
    const list = admin.page.getByRole('region', { name: 'Keys on hold' })
    await list.getByText('An owner of this workspace has to confirm these keys').waitFor()
    await list.getByText('Old laptop').waitFor()
    assert.equal(await list.getByRole('checkbox').count(), 0)
    await inspectPage(admin.page, 'held-keys-admin')

    await openOverview(owner.page, { slug })
    await inspectPage(owner.page, 'held-keys-banner')
    await banner(owner.page).getByRole('link', { name: 'Check and confirm the keys' }).click()
    const choices = owner.page.getByRole('region', { name: 'Keys on hold' })
    await choices.getByText(`svc_live_…${payroll.slice(-4)}`).waitFor()
    await choices.getByRole('button', { name: 'Revoke 3 keys' }).waitFor()
    await inspectPage(owner.page, 'held-keys')
    for (const name of ['Payroll', 'Scraper'])
      await choices.getByRole('checkbox', { name: `Works again: ${name}` }).check()
    await choices.getByRole('button', { name: 'Confirm 2 keys and revoke 1 key' }).click()
    const dialog = owner.page.getByRole('alertdialog')
    await dialog.getByText(`svc_test_…${old.slice(-4)}`).waitFor()
    await inspectPage(owner.page, 'held-keys-dialog')
    await confirm(owner.page, 'Confirm 2 keys and revoke 1 key')
    await owner.page.getByText('2 keys work again. 1 key was revoked.').waitFor()
    await choices.waitFor({ state: 'hidden' })
    await banner(owner.page).waitFor({ state: 'hidden' })
    await inspectPage(owner.page, 'held-keys-confirmed')
    assert.deepEqual(await statuses([payroll, scraper, old]), [200, 200, 401])
  })

  test('if another owner has decided meanwhile, nothing is overwritten, and the page says so', async () => {
    const { authUrl } = fixture.host
    const owner = await fixture.enter()
    const slug = await signUpOwner(owner, 'Olive Owner', { authUrl, workspace: 'Meadow' })
    const key = await createKey(owner, { authUrl, slug, mode: 'test', name: 'Robot' })
    await hold(slug)
    await openOverview(owner.page, { slug })
    await banner(owner.page).getByRole('link', { name: 'Check and confirm the keys' }).click()
    await owner.page.getByRole('checkbox', { name: 'Works again: Robot' }).check()
    await fixture.query('update api_keys set revoked_at = held_at where held_at is not null and name = $1', ['Robot'])
    await owner.page.getByRole('button', { name: 'Confirm 1 key' }).click()
    const dialog = owner.page.getByRole('alertdialog')
    await dialog.getByRole('button', { name: 'Confirm 1 key' }).click()
    await dialog.getByRole('alert').filter({ hasText: 'no longer waits for a decision' }).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    assert.equal(await fixture.host.statusOfMe(key), 401)
  })

  /** Holds the keys of one workspace, as `holdAllKeys` does it for all. Other files use the same sandbox. */
  async function hold(slug: string): Promise<void> {
    await fixture.query(
      'update api_keys set held_at = created_at where workspace_id = (select id from workspaces where slug = $1)',
      [slug],
    )
  }

  async function statuses(keys: readonly string[]): Promise<number[]> {
    return await Promise.all(keys.map((key) => fixture.host.statusOfMe(key)))
  }
})

function banner(page: Page) {
  return page.getByRole('status').filter({ hasText: 'API keys are on hold' })
}
