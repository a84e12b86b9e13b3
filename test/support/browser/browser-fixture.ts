import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { startThrowAwaySandbox } from '../../../sandbox/src/throw-away-sandbox.ts'
import { openHostOf, type AgentHost } from '../sandbox/agent-host.ts'
import { launchBrowser, openPerson, type Person } from './launch-browser.ts'
import { share } from '../sandbox/share.ts'
import { createSandboxWorkspace } from '../sandbox/create-sandbox-workspace.ts'

/** A sandbox, a browser, and the people who use it. */
export interface BrowserFixture {
  readonly host: AgentHost
  readonly browser: Browser
  /** Adds a person with an empty browser, an address of their own, and an authenticator. */
  enter(options?: EnterOptions): Promise<Person>
  /** Closes all people's browsers. Throws if any page reported a fault. */
  leave(): Promise<void>
}

/** A fixture with its own sandbox. */
export interface OwnBrowserFixture extends BrowserFixture {
  close(): Promise<void>
}

type EnterOptions = Parameters<typeof openPerson>[1] & {
  /**
   * This person visits pages on which faults are normal: when the browser blocks a hostile page, it reports a fault.
   */
  readonly faultsExpected?: boolean
}

/** Opens the Chromium that the test files in one process share. */
export function openBrowser(): Promise<Browser> {
  return share('browser', launchBrowser)
}

/**
 * Opens a fixture in the shared Chromium. Its workspace is like the demo workspace, and only this fixture uses it.
 * Other tests use the same sandbox, so a test must not change anything that they could notice.
 */
export async function openBrowserFixture(): Promise<BrowserFixture> {
  const [browser, sandbox] = await Promise.all([openBrowser(), share('sandbox', () => startSandbox({}))])
  const host = openHostOf(sandbox, await createSandboxWorkspace(sandbox))
  return createBrowserFixture(browser, host)
}

/** Opens a fixture with a sandbox of its own, for tests that move the clock or need other settings of the server. */
export async function openOwnBrowserFixture(
  serverEnv: Readonly<Record<string, string>> = {},
): Promise<OwnBrowserFixture> {
  const [browser, sandbox] = await Promise.all([openBrowser(), startSandbox(serverEnv)])
  return { ...createBrowserFixture(browser, openHostOf(sandbox, sandbox.facts.workspace)), close: sandbox.close }
}

async function startSandbox(serverEnv: Readonly<Record<string, string>>) {
  // Sign-in ceremonies are limited by address (D33), so each person has their own address, set by a proxy.
  const sandbox = await startThrowAwaySandbox({ serverEnv: { TRUSTED_PROXIES: '127.0.0.1', ...serverEnv } })
  return { ...sandbox, close: () => sandbox.remove() }
}

function createBrowserFixture(browser: Browser, host: AgentHost): BrowserFixture {
  const people: (Person & { faultsExpected: boolean })[] = []
  const leave = async (): Promise<void> => {
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
    async enter({ faultsExpected = false, ...options } = {}) {
      const extraHTTPHeaders = { 'X-Forwarded-For': randomAddress() }
      const person = await openPerson(browser, { baseURL: host.authUrl, extraHTTPHeaders, ...options })
      people.push({ ...person, faultsExpected })
      return person
    },
    leave,
  }
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`
}
