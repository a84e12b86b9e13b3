import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { startThrowAwaySandbox } from '../../../sandbox/src/throw-away-sandbox.ts'
import { openHostOf, type AgentHost } from '../sandbox/agent-host.ts'
import { openPooledPerson, type EnterOptions as PooledOptions } from './context-pool.ts'
import { launchBrowser, type Person } from './launch-browser.ts'
import { explainFailure } from './page-history.ts'
import { prepareSandbox } from '../sandbox/prepared-sandbox.ts'
import { findSandboxDatabase, type SandboxDatabase } from '../sandbox/sandbox-database.ts'
import { share } from '../sandbox/share.ts'
import { createSandboxWorkspace } from '../sandbox/create-sandbox-workspace.ts'

/** How many slots a wallet gets. One of the tests needs six grants on a wallet. */
const SLOTS = 6

/** A sandbox, a browser, and the people who use it. */
export interface BrowserFixture {
  readonly host: AgentHost
  readonly browser: Browser
  /** Reads or changes rows of this file's own workspaces, where no page and no endpoint can. */
  readonly query: SandboxDatabase['query']
  /** Adds a person. Each one has an empty browser, an IP address and an authenticator of their own. */
  enter(options?: EnterOptions): Promise<Person>
  /** If the test has failed, adds to its error what the people's pages show. `test` is the context of an `afterEach`. */
  explain(test: object): Promise<void>
  /** Explains a failed test, and closes all people's browsers. Throws if any page has reported a fault. */
  leave(test?: object): Promise<void>
}

/** A fixture with a sandbox that only one test file uses. */
export interface OwnBrowserFixture extends BrowserFixture {
  close(): Promise<void>
}

type EnterOptions = Partial<PooledOptions> & {
  /**
   * Whether faults on this person's pages are ignored. When the browser blocks something on a hostile page, it reports
   * a fault.
   */
  readonly faultsExpected?: boolean
}

/** Opens the Chromium that all test files of a folder share. */
export function openBrowser(): Promise<Browser> {
  return share('browser', launchBrowser)
}

/**
 * Opens a fixture in the shared Chromium and the shared sandbox. It has its own workspace, which is like the demo
 * workspace. Other tests use the same sandbox, so a test must change nothing that they could notice.
 */
export async function openBrowserFixture(): Promise<BrowserFixture> {
  const [browser, sandbox] = await Promise.all([openBrowser(), share('sandbox', () => startSandbox({}))])
  const host = openHostOf(sandbox, await createSandboxWorkspace(sandbox))
  return createBrowserFixture(browser, host, findSandboxDatabase(sandbox))
}

/**
 * Opens a fixture in the shared Chromium and in a second shared sandbox, for tests that move the clock. At the start of
 * a file, the clock may already be ahead.
 */
export async function openClockBrowserFixture(): Promise<BrowserFixture> {
  const [browser, sandbox] = await Promise.all([openBrowser(), share('sandbox with a clock', () => startSandbox({}))])
  const host = openHostOf(sandbox, await createSandboxWorkspace(sandbox))
  return createBrowserFixture(browser, host, findSandboxDatabase(sandbox))
}

/**
 * Opens a fixture with a sandbox of its own, for tests that need other settings of the server, or a clock that is not
 * ahead when they start.
 */
export async function openOwnBrowserFixture(
  serverEnv: Readonly<Record<string, string>> = {},
): Promise<OwnBrowserFixture> {
  const [browser, sandbox] = await Promise.all([openBrowser(), startSandbox(serverEnv)])
  const host = openHostOf(sandbox, sandbox.facts.workspace)
  return { ...createBrowserFixture(browser, host, findSandboxDatabase(sandbox)), close: sandbox.close }
}

async function startSandbox(serverEnv: Readonly<Record<string, string>>) {
  // Sign-ins are limited by IP address (D33). The server trusts the header `X-Forwarded-For`, in which each person's
  // browser sends a different address.
  const sandbox = await startThrowAwaySandbox({
    serverEnv: { TRUSTED_PROXIES: '127.0.0.1', ...serverEnv },
    prepared: await prepareSandbox(),
    memory: 'large',
    walletSlots: SLOTS,
  })
  return { ...sandbox, close: () => sandbox.remove() }
}

function createBrowserFixture(browser: Browser, host: AgentHost, { query }: SandboxDatabase): BrowserFixture {
  const people: (Person & { faultsExpected: boolean })[] = []
  const explain = (test: object): Promise<void> => explainFailure(test, people)
  const leave = async (test: object = {}): Promise<void> => {
    await explain(test)
    const left = people.splice(0)
    await Promise.all(left.map((person) => person.close()))
    assert.deepEqual(
      left.flatMap(({ faults, faultsExpected }) => (faultsExpected ? [] : faults)),
      [],
    )
  }
  return {
    host,
    browser,
    query,
    async enter({ faultsExpected = false, ...options } = {}) {
      const extraHTTPHeaders = { 'X-Forwarded-For': randomAddress() }
      const person = await openPooledPerson(browser, { baseURL: host.authUrl, extraHTTPHeaders, ...options })
      people.push({ ...person, faultsExpected })
      return person
    },
    explain,
    leave,
  }
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`
}
