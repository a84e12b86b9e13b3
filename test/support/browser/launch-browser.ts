import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { createBrotliDecompress } from 'node:zlib'
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core'
import { PageHistory } from './page-history.ts'

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/bursar', import.meta.url))
const SYSTEM_BROWSER = '/usr/bin/chromium'
/** How long a page may take until it shows what a test waits for. The machine may be busy. */
const TIMEOUT_MS = 60_000
/** How long a page that opens a window may be stopped. Playwright usually needs less than a second for the window. */
const STOPPED_MS_MAX = 15_000

/**
 * Launches a Chromium: the one at `CHROMIUM_PATH`, else the system's, else the one that npm installed. Its web security
 * is on, as in any user's browser.
 */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? (await findBrowser())
  // Chromium's own sandbox is off, because tests may run as root, and they open only our own pages. Names under
  // `.example` (RFC 2606) lead to this computer. All pages of a site share a process, so that the site's code is not
  // compiled again for each person.
  const names = '--host-resolver-rules=MAP *.example 127.0.0.1'
  const args = ['--no-sandbox', '--disable-gpu', '--no-zygote', '--process-per-site', names]
  return await chromium.launch({ executablePath, args })
}

/**
 * Opens an empty browser for a person. Its authenticator confirms every request, and finds all passkeys that were
 * created in it.
 */
export async function openPerson(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Person> {
  const context = await browser.newContext(options)
  return await enterContext(context, { openPage: () => context.newPage(), close: () => context.close() })
}

/** Opens a page for a person in an empty browser. `close` is called when the person leaves. */
export async function enterContext(
  context: BrowserContext,
  { openPage, close }: { openPage: () => Promise<Page>; close: () => Promise<void> },
): Promise<Person> {
  context.setDefaultTimeout(TIMEOUT_MS)
  const faults: string[] = []
  context.on('page', (opened) => watch(opened, faults))
  const history = new PageHistory(context)
  const page = await openPage()
  await resumeAfterWindows(page)
  const authenticator = await addAuthenticator(page)
  return { context, page, faults, history, authenticator, close }
}

export interface Person {
  readonly context: BrowserContext
  readonly page: Page
  /**
   * The faults that the person's pages reported: errors in scripts, and content that the Content Security Policy
   * blocked.
   */
  readonly faults: readonly string[]
  readonly history: PageHistory
  readonly authenticator: Authenticator
  close(): Promise<void>
}

export interface Authenticator {
  readonly session: CDPSession
  readonly id: string
}

/**
 * Adds an authenticator to a page. An authenticator belongs to a single page, so another page of the same person needs
 * a second one with the same passkeys.
 */
export async function addAuthenticator(page: Page): Promise<Authenticator> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { session, id: authenticatorId }
}

/** Replaces an authenticator with a new one, which has the given passkeys. Returns the new one. */
export async function swapAuthenticator(
  page: Page,
  { session, id }: Authenticator,
  credentials: Awaited<ReturnType<typeof readCredentials>> = [],
): Promise<Authenticator> {
  await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: id })
  await session.detach()
  const authenticator = await addAuthenticator(page)
  for (const credential of credentials) {
    await authenticator.session.send('WebAuthn.addCredential', { authenticatorId: authenticator.id, credential })
  }
  return authenticator
}

/** Returns the passkeys of an authenticator. */
export async function readCredentials({ session, id }: Authenticator) {
  return (await session.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials
}

/**
 * Lets a page go on after it has opened a window. Chromium stops the page until Playwright has prepared the window and
 * says so. If Chromium misses that message, the page and all others in its process are stopped for ever, and the window
 * never appears. The message has no effect on a page that is not stopped.
 */
async function resumeAfterWindows(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  // The page may be closed by then.
  const resume = (): void => void session.send('Runtime.runIfWaitingForDebugger').catch(() => undefined)
  session.on('Page.windowOpen', () => setTimeout(resume, STOPPED_MS_MAX).unref())
  await session.send('Page.enable')
}

function watch(page: Page, faults: string[]): void {
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    // Chromium also logs an error for a response with an error status. Some tests cause such responses on purpose.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
}

async function findBrowser(): Promise<string> {
  if (existsSync(SYSTEM_BROWSER)) return SYSTEM_BROWSER
  const unpacked = join(CACHE, 'chromium')
  if (existsSync(unpacked)) return unpacked
  // The package's own function would unpack Chromium into the system's temporary folder, which is shared with
  // other users.
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const packed = join(entry.slice(0, entry.indexOf(join('chromium', 'build'))), 'chromium', 'bin', 'chromium.br')
  await mkdir(dirname(unpacked), { recursive: true })
  const mine = `${unpacked}.${randomUUID()}`
  try {
    await pipeline(createReadStream(packed), createBrotliDecompress(), createWriteStream(mine, { mode: 0o755 }))
    await rename(mine, unpacked)
  } finally {
    await rm(mine, { force: true })
  }
  return unpacked
}
