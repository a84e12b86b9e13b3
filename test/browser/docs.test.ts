import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'

/**
 * One page of each kind: the first one, one with a picture and code, one with tables, a generated one, and the page for
 * an address that does not exist.
 */
const PAGES = {
  'docs-first': '/docs/',
  'docs-picture': '/docs/concepts/limits',
  'docs-settings': '/docs/operate/settings',
  'docs-reference': '/docs/reference/payments',
  'docs-not-found': '/docs/nothing',
}

describe('the documentation in a browser', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach((t) => fixture.explain(t))
  after(() => fixture.leave())

  test('everybody can read it, in both themes and on a phone', async () => {
    const { page } = await fixture.enter({ faultsExpected: true })
    for (const [name, path] of Object.entries(PAGES)) {
      await page.goto(path)
      await inspectPage(page, name)
    }
  })

  test('somebody searches with the keyboard, and reads what was found', async () => {
    const { page } = await fixture.enter()
    await page.goto('/docs/')
    await page.keyboard.press('/')
    await page.keyboard.type('lost response')
    const results = page.locator('.results a')
    await results.first().waitFor()
    await inspectPage(page, 'docs-search')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/[a-z]/)
    await page.getByRole('searchbox').fill('nothingofthekind')
    await page.getByText('Nothing was found.').waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.getByRole('searchbox').inputValue(), '')
  })

  test('without scripts, every page and the menu can be read', async () => {
    const { page } = await fixture.enter({ javaScriptEnabled: false })
    await page.goto('/docs/quickstart')
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Buy web resources (x402)' })
      .click()
    await page.getByRole('heading', { level: 1, name: 'Buy web resources (x402)' }).waitFor()
    assert.equal(await page.locator('.search').isVisible(), false)
  })
})
