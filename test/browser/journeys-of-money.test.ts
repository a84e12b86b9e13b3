import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { readFile } from 'node:fs/promises'
import { afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { call } from '../support/http-client.ts'
import { button, hasFocus, heading, signUp } from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import {
  confirmInSigner,
  createKey,
  createWallet,
  doAndConfirm,
  enterOwner,
  goTo,
  signGrant,
  signWithPasskey,
} from './owner-steps.ts'

const FIRST_PAYMENT_MS_MAX = 120_000
const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'

/** Each test begins with a new owner, and uses only what a person can see and click. */
describe('what owners do with their money', () => {
  let fixture: BrowserFixture
  before(async () => {
    fixture = await openBrowserFixture()
  })
  afterEach((t) => fixture.leave(t))

  test('the first payment: from sign-up to confirmed, in under two minutes', async (context) => {
    const startedAt = performance.now()
    const { page } = await fixture.enter()
    await signUp(page, 'Ada Lovelace')
    await page.getByLabel('Workspace name').fill('Engine')
    await button(page, 'Create workspace').click()
    await heading(page, 'Overview').waitFor()
    await page.getByText('0 of 6 done').waitFor()
    const wallet = await createWallet(page, 'Main wallet')
    await signGrant(page, 'first-bot', { maxPerTx: '10', dailyCap: '50' })
    const key = await createKey(page, 'Laptop')
    await page.getByRole('link', { name: 'See example requests' }).click()
    const example = page.getByRole('region', { name: 'POST /v1/payments', exact: true })
    const command = await example.filter({ hasText: wallet }).innerText()
    assert.ok(!command.includes(key), 'the page names no secret')
    const answer = await runInShell(command, { BURSAR_KEY: key })
    const { payment } = JSON.parse(answer) as { payment?: { id: string } }
    assert.ok(payment !== undefined, answer)

    await goTo(page, 'Overview')
    const latest = page.getByRole('region', { name: 'Latest payments' })
    await latest.getByRole('link', { name: /^0\.01 USDC/ }).click()
    await page.waitForURL((url) => url.pathname.endsWith(payment.id))
    await page.getByRole('main').getByText('Confirmed', { exact: true }).first().waitFor()
    const elapsedMs = performance.now() - startedAt
    context.diagnostic(`first payment confirmed after ${(elapsedMs / 1_000).toFixed(1)} s`)
    assert.ok(elapsedMs < FIRST_PAYMENT_MS_MAX)
  })

  test('the page of a rejected payment shows which limit stopped it, and what to do', async () => {
    const { page } = await enterOwner(fixture, 'Rosa Refused', 'Brakes')
    const wallet = await createWallet(page, 'Main wallet')
    await signGrant(page, 'eager-bot', { maxPerTx: '10', dailyCap: '15' })
    const key = await createKey(page, 'Laptop')
    await goTo(page, 'Payments')
    const paid = await pay(key, { agent_id: 'eager-bot', wallet, amount_usdc: '10' })
    assert.equal(paid.status, 201)
    await page.getByRole('row').filter({ hasText: '10.00' }).waitFor()
    const [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export CSV').click()])
    assert.match(file.suggestedFilename(), /^brakes-test-payments-.+\.csv$/)
    assert.match(await readFile(await file.path(), 'utf8'), /^\ufeff?id,created_at,confirmed_at,status,[^]*,10,USDC,/)

    await page.getByRole('searchbox', { name: 'Search' }).fill('>10')
    await page.getByText('No payments found').waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('>=10')
    await page.getByRole('row').filter({ hasText: '10.00' }).waitFor()
    await button(page, 'Save view').click()
    await page.getByLabel('Name of the view').fill('Large ones')
    await button(page, 'Save view').click()
    const views = page.getByRole('navigation', { name: 'Saved views' })
    await views.getByRole('link', { name: 'Large ones' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('10.00')
    await page.getByRole('option', { name: /^10\.00 USDC to 0x5290…9EE7/ }).waitFor()
    await page.keyboard.press('Escape')
    await goTo(page, 'Payments')

    const refused = await pay(key, { agent_id: 'eager-bot', wallet, amount_usdc: '6' })
    assert.equal(refused.body.error.code, 'daily_cap_exceeded')

    await page.getByRole('main').getByRole('link', { name: 'Rejected requests' }).click()
    await page.getByRole('row').filter({ hasText: '6.00' }).getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: /^Rejected: / }).waitFor()
    await page.goto(page.url().replace('/test/', '/live/'))
    await page.getByRole('link', { name: 'Open it in test mode' }).click()
    await page.getByRole('heading', { level: 1, name: /^Rejected: / }).waitFor()
    const main = page.getByRole('main')
    for (const number of ['10', '15', '5', '6']) {
      await main
        .getByText(new RegExp(`\\b${number}(?:\\.00)? ?USDC`))
        .first()
        .waitFor()
    }
    await main.getByText('daily_cap_exceeded').first().waitFor()
    await page
      .getByRole('link', { name: /Replace grant/ })
      .first()
      .click()
    await heading(page, 'Replace grant')
      .or(page.getByRole('heading', { level: 1 }))
      .first()
      .waitFor()
    await page.getByText('The agent chose the amount and the address').waitFor()
    const limit = page.getByLabel('24-hour limit')
    assert.equal(await limit.inputValue(), '16', 'what was spent, and the rejected amount')
    await limit.fill('30')
    await goTo(page, 'Agents')
    await page.goBack()
    await heading(page, 'Replace grant').waitFor()
    assert.equal(await limit.inputValue(), '30', 'an unfinished form survives')
    assert.match(await page.title(), /^Test: Replace grant · Brakes · Bursar$/)
    await button(page, 'Review and sign').click()
    await signWithPasskey(page)
    assert.equal((await pay(key, { agent_id: 'eager-bot', wallet, amount_usdc: '6' })).status, 201)
  })

  test('a grant is suspended at once, replaced with one signature, and revoked with another', async () => {
    const { page } = await enterOwner(fixture, 'Greta Grant', 'Gate')
    const wallet = await createWallet(page, 'Main wallet')
    await signGrant(page, 'gate-bot', { maxPerTx: '2', dailyCap: '20' })
    const grantPage = page.url()
    const key = await createKey(page, 'Laptop')
    const payTwo = () => pay(key, { agent_id: 'gate-bot', wallet, amount_usdc: '2' })
    assert.equal((await payTwo()).status, 201)

    const signatures = await countSignatures(page)
    await page.goto(grantPage)
    await doAndConfirm(page, 'Suspend', 'Suspend grant')
    await page.getByRole('main').getByText('Suspended', { exact: true }).first().waitFor()
    assert.equal((await payTwo()).body.error.code, 'permission_not_found')
    assert.equal(signatures.count, 0, 'stopping an agent waits for nobody')

    await page.getByRole('link', { name: 'Replace grant' }).click()
    await page.getByLabel('Per-payment limit').fill('1')
    await button(page, 'Review and sign').click()
    await page.getByText('gate-bot').first().waitFor()
    await signWithPasskey(page)
    assert.equal(signatures.count, 1, 'one signature replaces a grant')
    const tooMuch = await payTwo()
    assert.equal(tooMuch.body.error.code, 'amount_too_large')
    assert.equal((await pay(key, { agent_id: 'gate-bot', wallet, amount_usdc: '1' })).status, 201)

    await button(page, 'Revoke').click()
    await confirmInSigner(page, 'Sign and revoke', ['Sign and revoke the grant'])
    await page.getByRole('main').getByText('Revoked', { exact: true }).first().waitFor()
    assert.equal(signatures.count, 2)
    assert.equal(
      (await pay(key, { agent_id: 'gate-bot', wallet, amount_usdc: '1' })).body.error.code,
      'permission_not_found',
    )
    await page.goto(grantPage)
    await page.getByRole('main').getByText('Replaced', { exact: true }).first().waitFor()
  })

  test('if an action is not possible, the page says so in plain words where the action would be', async () => {
    const { page } = await enterOwner(fixture, 'Paula Plain', 'Words')
    await createWallet(page, 'Main wallet')
    await goTo(page, 'Grants')
    await page.getByRole('link', { name: 'New grant' }).first().click()
    await page.getByLabel('New agent ID').fill('plain-bot')
    await page.getByLabel('Per-payment limit').fill('10')
    await page.getByLabel('24-hour limit').fill('20')
    await button(page, 'Review and sign').click()
    await page.getByText('Enter at least one recipient, or choose “Any recipient”.').waitFor()
    const addresses = page.getByLabel('Addresses')
    assert.equal(await hasFocus(page, addresses), true)
    await addresses.fill(RECIPIENT.replace(/E7$/, 'e7'))
    await button(page, 'Review and sign').click()
    await page.getByText('“0x5290…9Ee7” is not a valid address').waitFor()
    assert.equal(await hasFocus(page, addresses), true)
    assert.equal(await page.getByText(/recipient_allowlist|EVM/).count(), 0)

    await signGrant(page, 'plain-bot', { maxPerTx: '10', dailyCap: '20' })
    const successor = 'grt_00000000000000000000000000'
    await page.route('**/suspend', (route) =>
      route.fulfill({
        status: 409,
        json: {
          error: { type: 'conflict', code: 'grant_revoked', message: 'No.', details: { replaced_by: successor } },
        },
      }),
    )
    await doAndConfirm(page, 'Suspend', 'Suspend grant')
    const later = page.getByRole('alert').getByRole('link', { name: 'Open the newer grant' })
    assert.match((await later.getAttribute('href')) ?? '', new RegExp(`/grants/${successor}$`))

    await goTo(page, 'Agents')
    await page.getByRole('link', { name: 'plain-bot' }).click()
    await page.getByText('This agent can’t be deleted because it has a grant.').waitFor()
    assert.equal(await button(page, 'Delete agent').count(), 0)
  })

  function pay(
    key: string,
    payment: { readonly agent_id: string; readonly wallet: string; readonly amount_usdc: string },
  ) {
    return call(fixture.host.baseUrl, 'POST', '/v1/payments', { key, body: { ...payment, to: RECIPIENT } })
  }
})

/** Counts how often the page submits the owner's signature. */
async function countSignatures(page: Page): Promise<{ readonly count: number }> {
  const seen = { count: 0 }
  await page.route('**/grants/*/signature', async (route) => {
    seen.count += 1
    await route.continue()
  })
  return seen
}

/** Runs a command in a shell, as if a person had pasted it, and returns its output. */
async function runInShell(command: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const shell = spawn('sh', ['-c', command], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return await text(shell.stdout)
}
