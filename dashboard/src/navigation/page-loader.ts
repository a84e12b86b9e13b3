type Load<T> = () => Promise<T>

/** Every page that is loaded when it is first opened, in the order of the map of the site. */
const LOADS: Load<unknown>[] = []
/** So long at most the loading of what may be wanted next waits for an idle moment. */
const IDLE_MAX_MS = 10_000
/** For browsers that don't tell when they are idle. */
const PAUSE_MS = 300

/** A page's code could not be had: no connection, or there is a newer Bursar by now. */
export class PageNotLoadedError extends Error {
  constructor(cause: unknown) {
    super('A page could not be loaded.', { cause })
    this.name = 'PageNotLoadedError'
  }
}

/** Notes how a page's code is loaded; answers how, with a failure that can be told from the page's own. */
export function registerPage<T>(load: Load<T>): Load<T> {
  LOADS.push(load)
  return () =>
    load().catch((error: unknown) => {
      throw new PageNotLoadedError(error)
    })
}

/** Loads the code of every page, one after another and only while the browser has nothing better to do. */
export async function preloadAllPages(): Promise<void> {
  if (isDataSaved()) return
  for (const load of LOADS) {
    await idle()
    try {
      await load()
    } catch {
      // Whoever opens the page is told.
      return
    }
  }
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has no such thing.
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
