import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { openAgentHost, type AgentHost } from './agent-host.ts'
import { launchBrowser, openPerson, type Person } from './browser.ts'

/** A sandbox, a browser, and the people who sit before it. */
export interface Stage {
  readonly host: AgentHost
  readonly browser: Browser
  /** Somebody comes, with an empty browser, an address of their own, and an authenticator. */
  enter(options?: EnterOptions): Promise<Person>
  /** Everybody leaves. Throws when a page of anybody complained. */
  leave(): Promise<void>
  close(): Promise<void>
}

type EnterOptions = Parameters<typeof openPerson>[1] & {
  /** They go where pages have cause to complain: what browsers refuse others, they report as a fault. */
  readonly faultsExpected?: boolean
}

/** `serverEnv`: settings of the server, beside the sandbox's own. */
export async function openStage(serverEnv: Readonly<Record<string, string>> = {}): Promise<Stage> {
  // Sign-in ceremonies are limited by address (D33): each person comes from another one, by way of a proxy.
  const host = await openAgentHost({ TRUSTED_PROXIES: '127.0.0.1', ...serverEnv })
  const browser = await launchBrowser().catch(async (error: unknown) => {
    await host.close()
    throw error
  })
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
    async close() {
      await browser.close()
      await host.close()
    },
  }
}

function randomAddress(): string {
  return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`
}
