import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { pathOf } from './build-path.ts'
import { sessionQuery } from './session.ts'

/** Changes come in bursts. A page reads again at most this often, so that several pages stay far below the session's rate limit. */
const REFRESH_GAP_MS = 3_000
/** After a read that took long, the page waits this many times as long, so that requests do not pile up at the server. */
const REFRESH_GAP_FACTOR = 3
/** How long the page waits after the server rejected a stream or could not be reached. */
const RETRY_GAP_MS = 20_000
/** A shorter interruption is not shown. */
const OFFLINE_AFTER_MS = 5_000

/**
 * Keeps a workspace's pages up to date without a reload: when the server says that something has changed, the queries on
 * the screen are read again. Returns false once the server could not be heard for a while.
 */
export function useLiveChanges(slug: string, mode: Mode): boolean {
  const client = useQueryClient()
  const [isLive, setLive] = useState(true)
  useEffect(
    () =>
      listenToChanges(pathOf('GET /console/workspaces/:slug/changes', { params: { slug }, query: { mode } }), {
        onChange: () => client.invalidateQueries({ queryKey: liveKey(slug, mode) }),
        onLive: setLive,
        // Perhaps the person is no longer a member. The session says so.
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
 * Listens while the page is visible; a hidden page reads again once it is shown. The browser reopens a stream that ends. We
 * reopen one that was rejected, after a while. Returns a function that stops listening.
 */
function listenToChanges(path: string, { onChange, onLive, onRefused }: Listener): () => void {
  let source: EventSource | null = null
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  let offlineTimer: ReturnType<typeof setTimeout> | undefined
  let isRefreshing = false
  let hasMore = false
  let refreshableAt = Number.NEGATIVE_INFINITY
  const note = () => {
    // A read that is under way may have begun before the change, so another one follows it.
    if (isRefreshing) hasMore = true
    else refreshTimer ??= setTimeout(() => void run(), Math.max(0, refreshableAt - performance.now()))
  }
  const run = async () => {
    const startedAt = performance.now()
    isRefreshing = true
    hasMore = false
    await onChange()
    isRefreshing = false
    refreshTimer = undefined
    refreshableAt = startedAt + Math.max(REFRESH_GAP_MS, REFRESH_GAP_FACTOR * (performance.now() - startedAt))
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
    opened.addEventListener('change', note)
    // Something may have changed before we listened, or while the connection was lost.
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

/** The beginning of the key of every query whose data changes by itself: `[...liveKey(slug, mode), 'payments', …]`. */
export function liveKey(slug: string, mode: Mode): readonly ['workspaces', string, Mode] {
  return ['workspaces', slug, mode]
}
