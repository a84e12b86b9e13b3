import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { pathOf } from './build-path.ts'
import { liveKey } from './query-key.ts'
import { sessionQuery } from './session.ts'

/**
 * Changes come in bursts, so a page waits this long before it fetches its data again. Several open pages then stay far
 * below the session's rate limit.
 */
const REFRESH_GAP_MS = 3_000
/**
 * After a slow fetch, the page waits longer: at least this many times the duration of the fetch, counted from its
 * start. Otherwise requests would pile up at the server.
 */
const REFRESH_GAP_FACTOR = 3
/** How long the page waits before it reopens a stream that the browser does not reopen itself. */
const RETRY_GAP_MS = 20_000
/** An interruption that is shorter than this is not shown. */
const OFFLINE_AFTER_MS = 5_000

/**
 * Keeps a workspace's pages up to date without a reload: when the server announces a change, the queries on the screen
 * are fetched again. Returns false once the connection to the server has been lost for `OFFLINE_AFTER_MS`.
 */
export function useLiveChanges(slug: string, mode: Mode): boolean {
  const client = useQueryClient()
  const [isLive, setLive] = useState(true)
  useEffect(
    () =>
      listenToChanges(pathOf('GET /console/workspaces/:slug/changes', { params: { slug }, query: { mode } }), {
        onChange: () => client.invalidateQueries({ queryKey: liveKey(slug, mode) }),
        onLive: setLive,
        // The user may no longer be a member. The session lists the user's workspaces, so it is fetched again.
        onRefused: () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
      }),
    [client, slug, mode],
  )
  return isLive
}

interface Listener {
  readonly onChange: () => Promise<void>
  readonly onLive: (isLive: boolean) => void
  readonly onRefused: () => void
}

/**
 * Listens while the page is visible. A hidden page fetches its data again once it is shown. The browser reopens a
 * stream that ends; a stream that the server rejected is reopened here after `RETRY_GAP_MS`. Returns a function that
 * stops listening.
 */
function listenToChanges(path: string, { onChange, onLive, onRefused }: Listener): () => void {
  let source: EventSource | null = null
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  let offlineTimer: ReturnType<typeof setTimeout> | undefined
  let isRefreshing = false
  let hasMore = false
  /** Whether a change has arrived since the last fetch began for which the page does not wait. */
  let isUrgent = false
  let refreshableAt = Number.NEGATIVE_INFINITY
  const note = () => {
    // A fetch in progress may have started before the change, so another fetch follows it.
    if (isRefreshing) hasMore = true
    else refreshTimer ??= setTimeout(() => void run(), Math.max(0, refreshableAt - performance.now()))
  }
  // A stop must be seen at once. Grants change rarely, because people change them, so the page does not wait.
  const noteChange = ({ data }: MessageEvent<string>) => {
    if (data.includes('"grants"')) {
      refreshableAt = Number.NEGATIVE_INFINITY
      clearTimeout(refreshTimer)
      refreshTimer = undefined
      isUrgent = true
    }
    note()
  }
  const run = async () => {
    const startedAt = performance.now()
    isRefreshing = true
    hasMore = false
    isUrgent = false
    await onChange()
    isRefreshing = false
    refreshTimer = undefined
    const gapMs = isUrgent ? 0 : Math.max(REFRESH_GAP_MS, REFRESH_GAP_FACTOR * (performance.now() - startedAt))
    refreshableAt = startedAt + gapMs
    if (hasMore && source !== null) note()
  }
  const setLive = (isLive: boolean) => {
    if (isLive) {
      clearTimeout(offlineTimer)
      offlineTimer = undefined
      onLive(true)
    } else {
      offlineTimer ??= setTimeout(() => onLive(false), OFFLINE_AFTER_MS)
    }
  }
  const close = () => {
    clearTimeout(retryTimer)
    source?.close()
    source = null
  }
  const open = () => {
    close()
    const opened = new EventSource(path)
    opened.addEventListener('change', noteChange)
    // Fetch the data again, because it may have changed before the stream was open, or while the connection was lost.
    opened.addEventListener('ready', () => {
      setLive(true)
      note()
    })
    opened.addEventListener('error', () => {
      setLive(false)
      if (opened.readyState !== EventSource.CLOSED) return
      onRefused()
      retryTimer = setTimeout(open, RETRY_GAP_MS)
    })
    setLive(false)
    source = opened
  }
  const follow = () => {
    if (document.hidden) {
      close()
      setLive(true)
    } else if (source === null) open()
  }
  follow()
  document.addEventListener('visibilitychange', follow)
  return () => {
    document.removeEventListener('visibilitychange', follow)
    close()
    setLive(true)
    clearTimeout(refreshTimer)
  }
}
