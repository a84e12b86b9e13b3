type Load<T> = () => Promise<T>

/** The loaders of all code that is loaded on demand, mostly pages, in the order of the routes. */
const LOADERS: Load<unknown>[] = []
/** Preloading waits at most this long for the browser to be idle. */
const IDLE_MAX_MS = 10_000
/** How long preloading pauses before each page in browsers without `requestIdleCallback`. */
const PAUSE_MS = 300

/** The code of a page could not be loaded: there is no connection, or a newer version of Bursar has been deployed. */
export class PageNotLoadedError extends Error {
  constructor(cause: unknown) {
    super('A page could not be loaded.', { cause })
    this.name = 'PageNotLoadedError'
  }
}

/** Registers a loader for preloading. Returns a loader that throws `PageNotLoadedError` if loading fails. */
export function registerLoader<T>(load: Load<T>): Load<T> {
  LOADERS.push(load)
  return () =>
    load().catch((error: unknown) => {
      throw new PageNotLoadedError(error)
    })
}

/** Loads all registered code, one part after another and only while the browser is idle. */
export async function preloadAllPages(): Promise<void> {
  if (isDataSaved()) return
  for (const load of LOADERS) {
    await waitUntilIdle()
    try {
      await load()
    } catch {
      // The error is shown when the user opens the page.
      return
    }
  }
}

function waitUntilIdle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari does not support `requestIdleCallback`.
    if ('requestIdleCallback' in window) window.requestIdleCallback(() => resolve(), { timeout: IDLE_MAX_MS })
    else setTimeout(resolve, PAUSE_MS)
  })
}

function isDataSaved(): boolean {
  const connection: unknown = 'connection' in navigator ? navigator.connection : undefined
  return (
    typeof connection === 'object' && connection !== null && 'saveData' in connection && connection.saveData === true
  )
}
