import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after } from 'node:test'
import type { Browser } from 'playwright-core'
import { startThrowAwaySandbox } from '../../sandbox/src/throw-away-sandbox.ts'
import { openHostOf, type AgentHost } from './agent-host.ts'
import { launchBrowser, openPerson, type Person } from './browser.ts'
import { createSandboxWorkspace } from './sandbox-workspace.ts'

/** A sandbox, a browser, and the people who sit before it. */
export interface Stage {
  readonly host: AgentHost
  readonly browser: Browser
  /** Somebody comes, with an empty browser, an address of their own, and an authenticator. */
  enter(options?: EnterOptions): Promise<Person>
  /** Everybody leaves. Throws when a page of anybody complained. */
  leave(): Promise<void>
}

type EnterOptions = Parameters<typeof openPerson>[1] & {
  /** They go where pages have cause to complain: what browsers refuse others, they report as a fault. */
  readonly faultsExpected?: boolean
}

interface StageOptions {
  /** It moves the clock. Sandboxes that do are kept apart from those whose clock stands. */
  readonly movesClock?: boolean
  /** Settings of the server, beside the sandbox's own. */
  readonly serverEnv?: Readonly<Record<string, string>>
}

/**
 * One Chromium, and one sandbox for each kind of options: test files in one process share them, each with a workspace of
 * its own and with people of its own.
 */
const shared = new Map<string, Promise<{ readonly close: () => Promise<unknown> }>>()
after(async () => {
  for (const opening of shared.values()) await (await opening.catch(() => null))?.close()
})

function share<Shared extends { readonly close: () => Promise<unknown> }>(
  key: string,
  open: () => Promise<Shared>,
): Promise<Shared> {
  const opening = (shared.get(key) as Promise<Shared> | undefined) ?? open()
  shared.set(key, opening)
  return opening
}

async function startSandbox(serverEnv: Readonly<Record<string, string>>) {
  // Sign-in ceremonies are limited by address (D33): each person comes from another one, by way of a proxy.
  const sandbox = await startThrowAwaySandbox({ serverEnv: { TRUSTED_PROXIES: '127.0.0.1', ...serverEnv } })
  return { ...sandbox, close: () => sandbox.remove() }
}

/** The Chromium that the test files of a process share. */
export function openBrowser(): Promise<Browser> {
  return share('browser', launchBrowser)
}

/** A stage in the process's sandbox, with a workspace of its own, and in its Chromium. */
export async function openStage({ movesClock = false, serverEnv = {} }: StageOptions = {}): Promise<Stage> {
  const key = JSON.stringify({ movesClock, ...serverEnv })
  const [browser, sandbox] = await Promise.all([openBrowser(), share(key, () => startSandbox(serverEnv))])
  const host = openHostOf(sandbox, await createSandboxWorkspace(sandbox))
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
