import assert from 'node:assert/strict'
import { createPublicKey, hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { inspectPage } from '../support/browser/inspect-page.ts'
import { call } from '../support/http-client.ts'
import { openOverview, showPage } from '../support/browser/pages.ts'
import { openBrowserFixture, type BrowserFixture } from '../support/browser/browser-fixture.ts'
import { joinDemo } from '../support/browser/sign-up-over-http.ts'
import { postToConsole } from './owner-steps.ts'
import { waitFor } from '../support/wait-for.ts'

const RECIPIENT = '0x52908400098527886E0F7030069857D2E4169EE7'
const AGENT = 'demo-agent'
type Refusal = Readonly<{ id: string; resource_url: string | null }>

/** One page of each route. The inspections do not load the dashboard again for each page. */
const FIRST_PAGES = new Set([
  ...['payments', 'payment', 'refusal', 'agents', 'agent', 'wallets', 'wallet', 'recipients'],
  ...['statements', 'statement'],
  ...['grants', 'grant-new', 'grant-active', 'grant-replace'],
])
const LABEL = 'Looks up prices for the shop'
const LIMITS = { max_per_tx_usdc: '10', daily_cap_usdc: '100' }

describe('the pages about money, in both themes and at every width', () => {
  let fixture: BrowserFixture
  let page: Page
  const ids: Record<string, string> = {}
  before(async () => {
    fixture = await openBrowserFixture()
    const person = await fixture.enter()
    ;({ page } = person)
    await joinDemo(person, 'Ada Lovelace', fixture.host)
    await openOverview(page, fixture.host.workspace)
    await seed()
  })
  afterEach((t) => fixture.explain(t))
  after(async () => {
    await fixture.leave()
  })

  type Text = string | RegExp
  const pages: readonly (readonly [name: string, path: () => string, title: Text, content?: Text])[] = [
    ['overview', () => '', 'Overview', 'Paid, not delivered'],
    ['overview-websites', () => '?period=today&by=host', 'Overview', /^localhost:\d+/],
    ['overview-live-empty', () => '../live', 'Overview'],
    ['payments', () => 'payments', 'Payments'],
    ['payments-bought', () => 'payments?kind=x402', 'Payments', /^localhost:\d+$/],
    ['payments-undelivered', () => 'payments?kind=undelivered', 'Payments', /^Not delivered$/],
    ['payments-refused', () => 'payments?status=refused', 'Payments'],
    ['payments-found', () => 'payments?min=1&q=PAPER&sort=largest', 'Payments', '2 payments'],
    ['payments-no-match', () => 'payments?q=nothing-like-it', 'Payments'],
    ['payment', () => `payments/${ids['paid']}`, /^1\.50/],
    ['payment-failed', () => `payments/${ids['failed']}`, /^2\.00/],
    ['purchase', () => `payments/${ids['bought']}`, /^0\.01/],
    ['purchase-not-delivered', () => `payments/${ids['lost']}`, /^0\.02/],
    ['purchase-of-agent', () => `payments/${ids['claimed']}`, /^0\.03/, 'Resource, according to the agent'],
    ['refusal', () => `refusals/${ids['refused']}`, /^Rejected: /],
    ['refusal-of-purchase', () => `refusals/${ids['refusedPurchase']}`, /^Rejected: /, 'The grant allows purchases'],
    ['agents', () => 'agents', 'Agents'],
    ['agent', () => `agents/${AGENT}`, AGENT],
    ['wallets', () => 'wallets', 'Wallets'],
    ['wallet', () => `wallets/${fixture.host.workspace.wallets.test}`, 'Wallet'],
    ['grants', () => 'grants', 'Grants', LABEL],
    ['grant-new', () => 'grants/new', 'New grant'],
    ['grant-active', () => `grants/${ids['active']}`, `Grant for ${AGENT}`],
    ['grant-of-buyer', () => `grants/${ids['buyer']}`, 'Grant for buyer-bot'],
    ['grant-pending', () => `grants/${ids['pending']}`, 'Grant for pending-bot'],
    ['grant-suspended', () => `grants/${ids['suspended']}`, 'Grant for stopped-bot'],
    ['grant-replace', () => `grants/${ids['active']}/replace`, /^Replace/],
    ['recipients', () => 'recipients', 'Recipients'],
    ['statements', () => 'statements', 'Statements', 'Month not over'],
    ['statement', () => `statements/${fixture.host.workspace.wallets.test}/${month()}`, /^Statement for /, 'Deposits'],
    ['missing', () => 'payments/pay_00000000000000000000000000', 'Payment'],
    ['nowhere', () => 'nowhere', 'Page not found'],
  ]
  for (const [name, path, title, content] of pages) {
    test(name, async () => {
      await showPage(page, fixture.host.workspace, path())
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      if (content !== undefined) await page.getByText(content).first().waitFor()
      await inspectPage(page, name)
      assert.match(await page.title(), / · Bursar$/)
    })
  }

  test('evidence: a payment says why there is none yet, a period is exported, and a wallet has the public keys', async () => {
    const { workspace } = fixture.host
    // The grant of this purchase was signed minutes ago.
    await showPage(page, workspace, `payments/${ids['bought']}`)
    await page.getByRole('button', { name: 'Download evidence' }).click()
    await page
      .getByRole('alert')
      .getByText(/signed only a few minutes ago.* Try again after|still pending/)
      .waitFor()
    const verifier = page.getByRole('link', { name: 'Verify a file' })
    assert.match((await verifier.getAttribute('href')) ?? '', /^http:\/\/signer\.localhost:\d+\/verify\.html$/)

    await showPage(page, workspace, 'payments')
    const lines = (await download('Export evidence', /-test-evidence-.*\.ndjson$/)).trimEnd().split('\n')
    assert.match(lines[0] ?? '', /"format":"bursar-evidence-list\/1"/)
    const [, leftOut = ''] = /"left_out":([1-9]\d*)/.exec(lines.at(-1) ?? '') ?? []
    await page.getByRole('status').getByText(`The file does not contain ${leftOut} of the payments`).waitFor()

    await showPage(page, workspace, `wallets/${workspace.wallets.test}`)
    await page.getByRole('button', { name: 'Show public keys' }).click()
    const shown = page.getByText(/^[0-9a-f]{64}$/)
    const fingerprint = await shown.first().textContent()
    await inspectPage(page, 'wallet-public-keys')
    const pem = await download('Download public key', /^owner-[0-9a-f]{8}\.pem$/)
    const der = createPublicKey(pem).export({ format: 'der', type: 'spki' })
    assert.equal(hash('sha256', der, 'hex'), fingerprint)
  })

  /** Clicks the first button of this name, and returns the text of the file that it saves. */
  async function download(name: string, fileName: RegExp): Promise<string> {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name }).first().click(),
    ])
    assert.match(file.suggestedFilename(), fileName)
    return await readFile(await file.path(), 'utf8')
  }

  test('what was paid to each recipient in a month is two clicks away, and each row leads to its payments', async () => {
    await showPage(page, fixture.host.workspace, '')
    await page.getByRole('link', { name: 'Last month' }).click()
    await page.getByText(/^Spent last month/).waitFor()
    await page.getByRole('link', { name: 'By recipient' }).click()
    await page.getByText('No spending in this period.').last().waitFor()
    // Another period keeps the recipients.
    await page.getByRole('link', { name: 'This month' }).click()
    const row = page.getByRole('table', { name: 'Spending by recipient' }).getByRole('link', { name: 'A paper mill' })
    const search = new URL((await row.getAttribute('href')) ?? '', page.url()).searchParams
    assert.equal(search.get('recipient'), RECIPIENT)
    assert.equal(new Date(search.get('from') ?? '').getDate(), 1)
    await page.getByText('Show numbers').click()
    await inspectPage(page, 'overview-recipients')

    await page.getByRole('list', { name: 'Agents' }).getByRole('link', { name: AGENT }).click()
    await page.getByRole('heading', { level: 1, name: AGENT }).waitFor()
    const own = page.getByRole('table', { name: 'Spending by recipient' }).getByRole('link', { name: 'A paper mill' })
    const filter = new URL((await own.getAttribute('href')) ?? '', page.url()).searchParams
    assert.deepEqual([filter.get('agent'), filter.get('recipient')], [AGENT, RECIPIENT])
  })

  describe('as the first page that the browser loads', () => {
    // The tests before have made almost as many requests as a person may make in a minute.
    let other: Page
    before(async () => {
      const person = await fixture.enter()
      other = person.page
      await joinDemo(person, 'Grace Hopper', fixture.host)
    })
    for (const [name, path, title] of pages.filter(([name]) => FIRST_PAGES.has(name))) {
      test(name, async () => {
        await other.goto(`/w/${fixture.host.workspace.slug}/test/${path()}`)
        await other.getByRole('heading', { level: 1, name: title }).waitFor()
      })
    }
  })

  /** The current month. */
  function month(): string {
    return new Date().toISOString().slice(0, 'YYYY-MM'.length)
  }

  /** Creates one item of each kind that the pages show. */
  async function seed(): Promise<void> {
    const { host } = fixture
    const { keys, wallets } = host.workspace
    await fixture.query('update agents set label = $1 where id = $2 and mode = $3', [LABEL, AGENT, 'test'])
    const order = { agent_id: AGENT, wallet: wallets.test, to: RECIPIENT }
    const pay = (changes: object) =>
      call(host.baseUrl, 'POST', '/v1/payments', { key: keys.test, body: { ...order, ...changes } })
    ids['paid'] = (await pay({ amount_usdc: '1.5', memo: 'Search results, forty pages of them' })).body.payment.id
    await host.control('/enclave/faults', { fault: 'reject', count: 1 })
    ids['failed'] = (await pay({ amount_usdc: '2' })).body.payment.id
    for (const memo of ['first', 'again']) {
      assert.equal((await pay({ amount_usdc: '11', memo })).body.error.code, 'amount_too_large')
    }
    for (const id of ['pending-bot', 'stopped-bot', 'buyer-bot']) {
      await call(host.baseUrl, 'POST', '/v1/agents', { key: keys.test, body: { id } })
    }
    const grant = { mode: 'test', wallet: wallets.test, ...LIMITS }
    const pending = { ...grant, agent_id: 'pending-bot', sign: false, recipient_allowlist: [RECIPIENT] }
    const path = `/workspaces/${host.workspace.slug}/grants`
    ids['pending'] = (await host.control(path, pending)).grant.id
    ids['suspended'] = (await host.control(path, { ...grant, agent_id: 'stopped-bot' })).grant.id
    await host.control(`/grants/${ids['suspended']}/suspend`, {})
    ids['buyer'] = (await host.control(path, { ...grant, agent_id: 'buyer-bot', x402: true })).grant.id
    ids['bought'] = await buy({ price_usdc: '0.01' })
    ids['lost'] = await buy({ price_usdc: '0.02', flow: 'upfront', faults: ['handler_fails'] })
    ids['claimed'] = await signFor({ price_usdc: '0.03' })
    await postToConsole(page, 'recipients', { mode: 'test', address: RECIPIENT, label: 'A paper mill' })
    for (const [name, query] of [
      ['Paid to the mill', 'q=PAPER&min=1&sort=largest'],
      ['Failed in this quarter', 'status=failed'],
    ] as const) {
      await postToConsole(page, 'views', { mode: 'test', name, query })
    }
    assert.equal((await request({ price_usdc: '11' })).body.error.code, 'amount_too_large')
    const findRefusal = async (wasPurchase: boolean) => {
      const { refusals } = await readFromConsole<{ refusals: readonly Refusal[] }>('refusals?mode=test')
      return refusals.find(({ resource_url }) => (resource_url !== null) === wasPurchase)?.id
    }
    ids['refused'] = await waitFor('the refusal', () => findRefusal(false))
    ids['refusedPurchase'] = await waitFor('the refusal of a purchase', () => findRefusal(true))
    const { grants } = await readFromConsole<{ grants: readonly { id: string; agent_id: string }[] }>(
      'grants?mode=test',
    )
    ids['active'] = grants.find(({ agent_id }) => agent_id === AGENT)?.id ?? ''
  }

  /** Asks the service to buy a resource of the sandbox's seller. */
  async function request(behaviour: object) {
    const { host } = fixture
    const url = await createResource(behaviour)
    const body = { url, ...termsOf(url) }
    return await call(host.baseUrl, 'POST', '/v1/x402/pay', { key: host.workspace.keys.test, body })
  }

  /** Asks the service to sign for a resource that the agent fetches itself, and returns the payment's id. */
  async function signFor(behaviour: object): Promise<string> {
    const { host } = fixture
    const url = await createResource(behaviour)
    const required = (await fetchOnce(url)).headers.get('payment-required')
    const body = { payment_required: required, resource_url: url, ...termsOf(url) }
    const signed = await call(host.baseUrl, 'POST', '/v1/x402/sign', { key: host.workspace.keys.test, body })
    assert.equal(signed.status, 201, signed.text)
    return signed.body.payment.id
  }

  async function createResource(behaviour: object): Promise<string> {
    const made: object = await fixture.host.control('/seller/resources', behaviour)
    return (made as { readonly resource: { readonly url: string } }).resource.url
  }

  function termsOf(url: string) {
    const { wallets } = fixture.host.workspace
    return { agent_id: 'buyer-bot', wallet: wallets.test, max_amount_usdc: '20', idempotency_key: url.slice(-40) }
  }

  /** Buys a resource, waits until it is paid, and returns the payment's id. */
  async function buy(behaviour: object): Promise<string> {
    const { baseUrl, workspace } = fixture.host
    const bought = await request(behaviour)
    assert.equal(bought.status, 200, bought.text)
    const { id } = bought.body.payment
    const settled = await call(baseUrl, 'GET', `/v1/payments/${id}?wait=30`, { key: workspace.keys.test })
    assert.equal(settled.body.payment?.status, 'confirmed', settled.text)
    return id
  }

  async function readFromConsole<Body>(path: string): Promise<Body> {
    const answer = await page.request.get(`/console/workspaces/${fixture.host.workspace.slug}/${path}`)
    assert.equal(answer.status(), 200)
    return (await answer.json()) as Body
  }
})
