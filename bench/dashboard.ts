import type { Page } from 'playwright-core'
import { startThrowAwaySandbox, type ThrowAwaySandbox } from '../sandbox/src/throw-away-sandbox.ts'
import { launchBrowser, openPerson } from '../test/support/browser/launch-browser.ts'
import { call } from '../test/support/http-client.ts'
import { joinDemo } from '../test/support/browser/sign-up-over-http.ts'
import { findSandboxDatabase } from '../test/support/sandbox/sandbox-database.ts'
import { seedPayments } from './seed-payments.ts'

/**
 * `npm run bench:dashboard` measures the dashboard's pages in a browser, in a workspace with 10,000 payments. It
 * measures the time until a page shows its content, layout shift, blocking time, and the size of the scripts. The
 * smallest page is measured for comparison.
 */
const PAYMENTS = 10_000
const AGENTS = 6
const VISITS = 7
const RATE_WINDOW_SECONDS = 61
const READY_MS_MAX = 1_000
const SCRIPT_BYTES_MAX = 250_000

const PAGES = [
  ['sign-in (floor)', '/sign-in'],
  ['overview, 24 h', '/w/demo/test?range=24h'],
  ['overview, 30 days', '/w/demo/test?range=30d'],
  ['payments', '/w/demo/test/payments'],
  ['payments, searched', '/w/demo/test/payments?q=invoice+9999'],
  ['agents', '/w/demo/test/agents'],
  ['grants', '/w/demo/test/grants'],
  ['wallets', '/w/demo/test/wallets'],
  ['a wallet', '/w/demo/test/wallets/WALLET'],
  ['withdraw', '/w/demo/test/wallets/WALLET/withdraw'],
  ['new grant', '/w/demo/test/grants/new'],
  ['account', '/account'],
  ['signer page', 'SIGNER_URL/'],
  ['API keys', '/w/demo/test/developers/keys'],
  ['audit log', '/w/demo/test/audit'],
] as const

interface Visit {
  /** The time from the start of the navigation until the page shows all of its content. */
  readonly readyMs: number
  readonly largestPaintMs: number
  /** How much of the page moved while it loaded (Cumulative Layout Shift). */
  readonly shift: number
  /** The time for which scripts blocked the page, without the first 50 ms of each task (Total Blocking Time). */
  readonly blockedMs: number
  /**
   * The compressed size of the scripts that were loaded up to `readyMs`. The code of other pages is loaded later, when
   * the browser is idle.
   */
  readonly scriptBytes: number
}

/** This script runs in the page before the page's own scripts. */
const OBSERVER = `(() => {
  const seen = { readyMs: 0, largestPaintMs: 0, shift: 0, blockedMs: 0, scriptBytes: 0 }
  window.visit = seen
  const watch = (type, read) => new PerformanceObserver((list) => list.getEntries().forEach(read)).observe({ type, buffered: true })
  watch('largest-contentful-paint', (entry) => { seen.largestPaintMs = entry.startTime })
  watch('layout-shift', (entry) => { if (!entry.hadRecentInput) seen.shift += entry.value })
  watch('longtask', (entry) => { seen.blockedMs += Math.max(0, entry.duration - 50) })
  const look = () => {
    const main = document.querySelector('main')
    const isReady = main?.querySelector('h1') && !main.querySelector('[aria-busy=true]')
    if (!isReady) return requestAnimationFrame(look)
    seen.readyMs = performance.now()
    seen.scriptBytes = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
  }
  requestAnimationFrame(look)
})()`

const IS_READY = `new Promise((resolve) => {
  const look = () => (window.visit.readyMs > 0 ? resolve() : requestAnimationFrame(look))
  look()
})`

const sandbox = await startThrowAwaySandbox({ serverEnv: { LOG_LEVEL: 'warn' } })
const browser = await launchBrowser()
try {
  await seed(sandbox)
  const person = await openPerson(browser, { baseURL: sandbox.facts.auth_url, viewport: { width: 1280, height: 900 } })
  const { auth_url: authUrl, workspace } = sandbox.facts
  await joinDemo(person, 'Ada Lovelace', { authUrl, workspace })
  await person.page.addInitScript(OBSERVER)
  await measurePages(person.page, sandbox)
} finally {
  await browser.close()
  await sandbox.remove()
}

async function seed({ facts, dataDir, port }: ThrowAwaySandbox): Promise<void> {
  const { slug, keys, wallets } = facts.workspace
  for (let index = 1; index < AGENTS; index += 1) {
    const id = `agent-${index}`
    await mustCall(facts.base_url, '/v1/agents', { id }, keys.test)
    const limits = { max_per_tx_usdc: '10', daily_cap_usdc: '5000' }
    const grant = { mode: 'test', agent_id: id, wallet: wallets.test, ...limits }
    await mustCall(facts.control_url, `/workspaces/${slug}/grants`, grant)
  }
  await seedPayments(findSandboxDatabase({ dataDir, port }), PAYMENTS, new Date())
}

async function mustCall(url: string, path: string, body: object, key?: string): Promise<void> {
  const answer = await call(url, 'POST', path, { body, ...(key === undefined ? {} : { key }) })
  if (answer.status !== 201 && answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
}

async function measurePages(page: Page, { facts }: ThrowAwaySandbox): Promise<void> {
  const signerUrl = facts.auth_url.replace('localhost', 'signer.localhost')
  const session = await page.context().newCDPSession(page)
  print(`${PAYMENTS} payments, ${AGENTS} agents; ${VISITS} visits each with an empty cache: median (worst)\n`)
  print('| page | ready, ms | largest paint, ms | shift | blocked, ms | script, kB compressed |')
  print('| --- | --- | --- | --- | --- | --- |')
  const faults: string[] = []
  for (const [name, pattern] of PAGES) {
    const path = pattern.replace('WALLET', facts.workspace.wallets.test).replace('SIGNER_URL', signerUrl)
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    // Move the clock, so that the session's rate limit does not affect the measurement. No person opens so many pages
    // in a minute.
    await mustCall(facts.control_url, '/clock', { advance_seconds: RATE_WINDOW_SECONDS })
    const visits: Visit[] = []
    for (let index = 0; index < VISITS; index += 1) visits.push(await visit(page, path))
    const columns = (['readyMs', 'largestPaintMs', 'shift', 'blockedMs', 'scriptBytes'] as const).map((key) =>
      visits.map((measured) => measured[key]).toSorted((left, right) => left - right),
    )
    const [ready = [], , , , script = []] = columns
    const texts = columns.map((values, index) => tell(values, index === 2 ? 3 : 0, index === 4 ? 1_000 : 1))
    print(`| ${name} | ${texts.join(' | ')} |`)
    if (middle(ready) > READY_MS_MAX) faults.push(`${name} is ready after ${middle(ready)} ms`)
    if (Math.max(...script) > SCRIPT_BYTES_MAX) faults.push(`${name} loads ${Math.max(...script)} bytes of script`)
  }
  if (faults.length > 0) throw new Error(faults.join('; '))
}

async function visit(page: Page, path: string): Promise<Visit> {
  await page.goto(path)
  await page.evaluate(IS_READY)
  // Wait until the browser is idle, because layout shifts and blocking count also after the content is shown.
  await page.waitForLoadState('load')
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))')
  return await page.evaluate<Visit>('window.visit')
}

function tell(sorted: readonly number[], digits: number, unit: number): string {
  const [median, worst] = [middle(sorted), sorted.at(-1) ?? 0].map((value) => (value / unit).toFixed(digits))
  return `${median} (${worst})`
}

function middle(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
