import assert from 'node:assert/strict'
import { afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { button } from '../support/browser/pages.ts'
import { createWallet, enterOwner, inSigner, signGrant } from './owner-steps.ts'

const TERMS = { maxPerTx: '10', dailyCap: '50' }

describe('stopping all agents', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach(() => fixture.leave())

  test('takes one click and a confirmation, shows on every open page, and is resumed with one signature', async () => {
    const { page, context } = await enterOwner(fixture, 'Stella Stop', 'Brake')
    await createWallet(page, 'Treasury')
    await signGrant(page, 'first-bot', TERMS)
    const other = await context.newPage()
    await other.goto(page.url().replace(/grants.*/, 'agents'))
    await other.getByRole('row').filter({ hasText: 'first-bot' }).waitFor()

    await button(page, 'Stop all agents').click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText('This suspends 1 active grant of 1 agent on 1 wallet at once.').waitFor()
    await inspect(page, 'stop-dialog')
    await dialog.getByRole('button', { name: 'Stop all agents' }).click()
    await page.getByText('All agents are stopped').waitFor()
    await other.getByText('All agents are stopped').waitFor()
    await other.getByRole('link', { name: 'Agents stopped' }).waitFor()
    await other.close()
    await inspect(page, 'stop-banner')

    const [statement = ''] = await inSigner(page, button(page, 'Resume 1 grant'), ['Sign and resume the grant'])
    for (const part of ['Resume 1 grant', 'first-bot', '10.00 USDC in a payment', '50.00 USDC in 24 hours'])
      assert.ok(statement.includes(part), `${part} in ${statement}`)
    await page.getByText('All agents are stopped').waitFor({ state: 'detached' })
    await page.getByRole('main').getByText('Active', { exact: true }).first().waitFor()
  })

  async function inspect(page: Page, name: string): Promise<void> {
    await inspectPage(page, name)
    await page.setViewportSize({ width: 1280, height: 900 })
  }
})
