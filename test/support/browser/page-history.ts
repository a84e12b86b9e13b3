import type { BrowserContext, Page, Request } from 'playwright-core'

/** How many failed requests are remembered: the last ones. */
const FAILED_MAX = 10
const TEXT_CHARS_MAX = 1_500
/** A page may be unable to respond. */
const READ_TIMEOUT_MS = 5_000

/** Remembers the requests of a person's pages, and describes what the pages show. */
export class PageHistory {
  readonly #pages: Page[] = []
  readonly #open = new Set<Request>()
  readonly #failed: string[] = []
  readonly #context: BrowserContext

  constructor(context: BrowserContext) {
    this.#context = context
    context.on('page', (page) => this.#watch(page))
  }

  /** Returns the address and the text of each open page, and the requests that failed or have no response yet. */
  async describe(): Promise<string> {
    const pages = await Promise.all(this.#pages.filter((page) => !page.isClosed()).map(describePage))
    return [
      ...pages,
      `Requests without a response: ${[...this.#open].map(nameOf).join(', ') || 'none'}`,
      `Requests that failed: ${this.#failed.join(', ') || 'none'}`,
      `Windows that pages have opened: ${await listWindows(this.#context).catch(String)}`,
    ].join('\n')
  }

  #watch(page: Page): void {
    this.#pages.push(page)
    page.on('request', (request) => this.#open.add(request))
    page.on('requestfailed', (request) => {
      this.#open.delete(request)
      this.#note(`${nameOf(request)} ${request.failure()?.errorText ?? ''}`)
    })
    page.on('response', (response) => {
      const request = response.request()
      this.#open.delete(request)
      if (response.status() >= 400) this.#note(`${nameOf(request)} ${response.status()}`)
    })
  }

  #note(failure: string): void {
    this.#failed.push(failure)
    if (this.#failed.length > FAILED_MAX) this.#failed.shift()
  }
}

interface Observed {
  readonly history: PageHistory
  readonly faults: readonly string[]
}

/**
 * Adds what the people see to the error of a failed test, so that a failure on another machine can be understood. `test`
 * is the context that a hook `afterEach` gets. If that hook fails too, Node reports only the first error, so this one has
 * the faults of the pages.
 */
export async function explainFailure(test: object, people: readonly Observed[]): Promise<void> {
  const { cause } = (test as { readonly error?: Error | null }).error ?? {}
  if (!(cause instanceof Error)) return
  const texts = await Promise.all(
    people.map(async ({ history, faults }) => `${await history.describe()}\nFaults: ${faults.join('\n') || 'none'}`),
  )
  cause.stack = [cause.stack, ...texts].join('\n')
}

async function describePage(page: Page): Promise<string> {
  const read = (selector: string): Promise<string> =>
    page
      .locator(selector)
      .first()
      .evaluate<string, Element>((element) => Reflect.get(element, 'innerText') as string, undefined, {
        timeout: READ_TIMEOUT_MS,
      })
      .catch((error: unknown) => String(error))
  const [title, text] = await Promise.all([read('title'), read('body')])
  return `Page ${page.url()} ${JSON.stringify(title)}\n${text.slice(0, TEXT_CHARS_MAX)}`
}

/** Lists the windows that any page of the browser has opened. Playwright does not report a window that has not started. */
async function listWindows(context: BrowserContext): Promise<string> {
  const session = await context.browser()?.newBrowserCDPSession()
  const { targetInfos = [] } = (await session?.send('Target.getTargets')) ?? {}
  await session?.detach()
  const windows = targetInfos.filter(({ openerId }) => openerId !== undefined)
  return windows.map(({ url }) => url || 'one without an address').join(', ') || 'none'
}

function nameOf(request: Request): string {
  return `${request.method()} ${new URL(request.url()).pathname}`
}
