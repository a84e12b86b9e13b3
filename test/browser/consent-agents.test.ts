import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { connectWith, startClientApp, type ClientApp } from '../support/sandbox/client-app.ts'
import { call } from '../support/http-client.ts'
import {
  acceptInvitation,
  approve,
  approveButton,
  button,
  createInvitation,
  hasFocus,
  heading,
  openConsent,
} from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo, signUpOverHttp } from '../support/browser/sign-up-over-http.ts'
import type { StorageState } from '../support/browser/context-pool.ts'

const NOBODY = `0x${'5'.repeat(40)}`

describe('choosing the agent and the wallet on the consent page, in a browser', () => {
  let fixture: BrowserFixture
  let app: ClientApp
  let signedIn: StorageState
  before(async () => {
    fixture = await openBrowserFixture()
    app = await startClientApp(fixture.host)
    const person = await fixture.enter()
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    signedIn = await person.context.storageState()
  })
  afterEach((t) => fixture.leave(t))
  after(async () => {
    await app.close()
  })

  const enterOwner = async (): Promise<Page> => (await fixture.enter({ storageState: signedIn })).page
  const arrive = async (page: Page): Promise<URL> => {
    await page.waitForURL((url) => url.origin === app.origin)
    return new URL(page.url())
  }

  /** Reads the texts of the wallet's three limits. */
  const readLimits = async (page: Page): Promise<Record<string, string>> => {
    const wallet = page.getByRole('list', { name: 'Wallets and limits of demo-agent' }).getByRole('listitem')
    const [terms, amounts] = [wallet.getByRole('term'), wallet.getByRole('definition')]
    await terms.first().waitFor()
    const texts = await amounts.allInnerTexts()
    return Object.fromEntries((await terms.allInnerTexts()).map((term, index) => [term, texts[index] ?? '']))
  }

  test("the page shows the agent's current limits: earlier payments reduce the remaining amount", async () => {
    const page = await enterOwner()
    await openConsent(page, app.start().url)
    const whole = { 'Left of it now': '100 USDC', '24-hour limit': '100 USDC', 'Per-payment limit': '10 USDC' }
    assert.deepEqual(await readLimits(page), whole)

    const { keys, wallets, agent_id } = fixture.host.workspace
    const payment = { agent_id, wallet: wallets.test, to: NOBODY, amount_usdc: '1.5' }
    const paid = await call(fixture.host.baseUrl, 'POST', '/v1/payments', { key: keys.test, body: payment })
    assert.equal(paid.status, 201, paid.text)
    await page.reload()
    assert.deepEqual(await readLimits(page), { ...whole, 'Left of it now': '98.5 USDC' })
    await page.getByRole('listitem').filter({ hasText: wallets.test }).waitFor()
    await page.getByRole('radio', { name: /^Live/ }).check()
    await page.getByRole('listitem').filter({ hasText: wallets.live }).waitFor()
    assert.deepEqual(await readLimits(page), whole, 'the other mode has limits of its own')
  })

  test('an agent can be created on the page, and the connection is for this agent', async () => {
    const page = await enterOwner()
    const authorization = app.start()
    const id = `fresh-${randomBytes(4).toString('hex')}`
    await openConsent(page, authorization.url)
    await button(page, 'Create a new agent').click()
    await page.getByLabel('New agent ID').fill(id)
    await button(page, 'Create agent').click()
    await page.getByText(`“${id}” can’t spend now`).waitFor()
    assert.equal(await page.getByLabel('Agent', { exact: true }).inputValue(), id)
    await approve(page)
    const { me } = await connectWith(fixture.host, authorization, await arrive(page))
    assert.equal(me.agent_id, id)
  })

  test('typing an id without creating the agent does not approve for the previously selected agent', async () => {
    const page = await enterOwner()
    await openConsent(page, app.start().url)
    await approveButton(page)
    await button(page, 'Create a new agent').click()
    const field = page.getByLabel('New agent ID')
    assert.equal(await hasFocus(page, field), true)
    await approveButton(page)
    await field.fill('research-bot')
    const obstacle = page
      .getByRole('status')
      .filter({ hasText: 'create the new agent first, or press Cancel in its form.' })
    await obstacle.waitFor()
    assert.equal(await button(page, 'Approve').isDisabled(), true)
    await page.getByRole('radio', { name: /^Live/ }).check()
    await approveButton(page)
    assert.equal(await field.count(), 0, 'the id was for the other mode')
    await page.getByRole('radio', { name: /^Test/ }).check()
    await button(page, 'Create a new agent').click()
    await field.fill('research-bot')
    await obstacle.waitFor()
    await button(page, 'Cancel').click()
    assert.equal(await hasFocus(page, button(page, 'Create a new agent')), true)
    await approveButton(page)
    assert.equal(await page.getByLabel('Agent', { exact: true }).inputValue(), fixture.host.workspace.agent_id)
  })

  test('the requested agent is selected if it exists, and otherwise no agent is', async () => {
    const page = await enterOwner()
    const id = `asked-${randomBytes(4).toString('hex')}`
    const authorization = app.start({ agent_id: id })
    await openConsent(page, authorization.url)
    await page.getByText(`The application asked for the agent “${id}”`).waitFor()
    await page.getByText('To approve, choose an agent first.').waitFor()
    assert.equal(await button(page, 'Approve').isDisabled(), true)
    assert.equal(await page.getByLabel('New agent ID').inputValue(), id)
    await button(page, 'Create agent').click()
    await approve(page)
    assert.equal((await connectWith(fixture.host, authorization, await arrive(page))).me.agent_id, id)

    const again = app.start({ agent_id: id })
    await openConsent(page, again.url)
    await approveButton(page)
    assert.equal(await page.getByLabel('Agent', { exact: true }).inputValue(), id)
  })

  test('the page starts with a workspace in which the person may approve', async () => {
    const owner = await enterOwner()
    await owner.goto(`/w/${fixture.host.workspace.slug}/members`)
    const url = await createInvitation(owner, 'Viewer')
    const person = await fixture.enter()
    const { page } = person
    await signUpOverHttp(person, 'Olga Ownelsewhere', fixture.host)
    await acceptInvitation(page, url)
    await openConsent(page, app.start().url)
    const workspace = page.getByLabel('Workspace', { exact: true })
    assert.equal(await workspace.inputValue(), fixture.host.workspace.slug)
    await page.goto('/')
    await page.getByLabel('Workspace name').fill('zen garden')
    await button(page, 'Create workspace').click()
    await heading(page, 'Overview').waitFor()
    await openConsent(page, app.start().url)
    assert.match(await workspace.inputValue(), /^zen/)
    assert.deepEqual(
      (await workspace.getByRole('option').allInnerTexts()).map((text) => text.trim()),
      ['demo (viewer)', 'zen garden (owner)'],
    )
  })
})
