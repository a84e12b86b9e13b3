import assert from 'node:assert/strict'
import { afterEach, before, describe, test } from 'node:test'
import { button, heading } from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { CREATE_WALLET, enterOwner, goTo, pressInSigner } from './owner-steps.ts'

describe('two clicks at once', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))

  test('create only one wallet, one key, one faucet transfer and one invitation', async () => {
    const { page } = await enterOwner(fixture, 'Dora Double', 'Clicks')
    const posts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(new URL(request.url()).pathname.split('/').at(-1) ?? '')
    })
    await goTo(page, 'Wallets')
    await button(page, 'New wallet').click()
    await page.getByLabel('Name', { exact: true }).fill('Only one')
    await page.getByLabel('New passkey name').fill('Only one')
    await pressInSigner(page, () => button(page, 'Create wallet').dblclick(), CREATE_WALLET)
    await heading(page, 'Only one').waitFor()
    await button(page, 'Get 100 test USDC').dblclick()
    await page.getByRole('status').filter({ hasText: '100.00 USDC received.' }).waitFor()
    await goTo(page, 'API keys')
    await button(page, 'Create a key').click()
    await page.getByLabel('Key name').fill('Only one')
    await button(page, 'Create key').dblclick()
    await page.getByLabel('API key', { exact: true }).waitFor()
    await button(page, 'I have saved it').click()
    await goTo(page, 'Members')
    await button(page, 'Create link').dblclick()
    await button(page, 'Create another link').waitFor()
    assert.deepEqual(posts, ['options', 'wallet-passkeys', 'wallets', 'record', 'faucet', 'keys', 'invitations'])
  })
})
