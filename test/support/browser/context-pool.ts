import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { enterContext, type Person } from './launch-browser.ts'
import { forgetWalletPasskeys } from './signer.ts'

/** What a person's browser has when the person enters it. */
export interface EnterOptions {
  readonly baseURL: string
  readonly extraHTTPHeaders: Record<string, string>
  /** The cookies and the local storage of another browser, which this one starts with. */
  readonly storageState?: StorageState
  readonly ignoreHTTPSErrors?: boolean
  readonly javaScriptEnabled?: boolean
}

export type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>

/** A browser that nobody uses. */
interface IdleContext {
  readonly context: BrowserContext
  /** A page that remains open, so that the process of the site does not end. */
  readonly quiet: Page
  readonly session: CDPSession
}

/** A page of the service without scripts. */
const QUIET_PATH = '/console/session'
/** The kinds of storage that a page can use. */
const STORAGE_TYPES =
  'cache_storage,file_systems,indexeddb,local_storage,service_workers,shared_storage,storage_buckets'

const pools = new WeakMap<Browser, Map<string, IdleContext[]>>()

/**
 * Opens an empty browser for a person. It may be one that another person has left. Then it is as empty as a new one,
 * but its process has already compiled the dashboard, and its cache contains the dashboard's files. To start a process
 * and to compile the dashboard in it takes more processor time than most tests.
 */
export async function openPooledPerson(browser: Browser, options: EnterOptions): Promise<Person> {
  const { storageState, extraHTTPHeaders, ...fixed } = options
  const pool = poolOf(browser, JSON.stringify(fixed))
  const idle = pool.pop() ?? (await openContext(browser, fixed))
  const { context, quiet, session } = idle
  await context.setExtraHTTPHeaders(extraHTTPHeaders)
  if (storageState !== undefined) await fill(idle, storageState)
  const close = async (): Promise<void> => {
    context.removeAllListeners('page')
    const left = context.pages().filter((page) => page !== quiet)
    await Promise.all(left.map((page) => page.close()))
    await context.unrouteAll({ behavior: 'ignoreErrors' })
    forgetWalletPasskeys({ context })
    await context.clearCookies()
    await session.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: STORAGE_TYPES })
    pool.push(idle)
  }
  return await enterContext(context, { openPage: () => openPageFrom(quiet), close })
}

/**
 * Opens an empty page in the process of `quiet`. Neither page has access to the other. With `context.newPage()`,
 * Chromium would start a process for the empty page, and end it when the page loads the site.
 */
async function openPageFrom(quiet: Page): Promise<Page> {
  const opened = quiet.context().waitForEvent('page')
  await quiet.evaluate("void window.open('about:blank', '_blank', 'noopener')")
  return await opened
}

function poolOf(browser: Browser, key: string): IdleContext[] {
  const ofBrowser = pools.get(browser) ?? new Map<string, IdleContext[]>()
  pools.set(browser, ofBrowser)
  const pool = ofBrowser.get(key) ?? []
  ofBrowser.set(key, pool)
  return pool
}

async function openContext(
  browser: Browser,
  options: Omit<EnterOptions, 'storageState' | 'extraHTTPHeaders'>,
): Promise<IdleContext> {
  const context = await browser.newContext(options)
  const quiet = await context.newPage()
  await quiet.goto(QUIET_PATH)
  return { context, quiet, session: await context.newCDPSession(quiet) }
}

/** Fills a browser with the cookies and the local storage of another one. */
async function fill({ context, quiet, session }: IdleContext, state: StorageState): Promise<void> {
  await context.addCookies(state.cookies)
  const { origin: here } = new URL(quiet.url())
  for (const { origin, localStorage } of state.origins) {
    if (origin !== here) throw new Error(`the local storage of ${origin} cannot be copied`)
    const storageId = { securityOrigin: origin, isLocalStorage: true }
    for (const { name: key, value } of localStorage) {
      await session.send('DOMStorage.setDOMStorageItem', { storageId, key, value })
    }
  }
}
