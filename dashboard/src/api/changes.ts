import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Mode } from './wire.ts'
import { workspacePath } from './workspaces.ts'

/** Changes come in bursts; the page reads anew at most this often. */
const REFRESH_GAP_MS = 1_500
/** What takes long to read is read the more seldom: nothing piles up at the server. */
const REFRESH_GAP_FACTOR = 3
/** The server refuses a stream while it has too many, or is out of reach. */
const RETRY_GAP_MS = 20_000

/**
 * Keeps what is shown of a workspace true without a reload: the server tells that something changed, and what is on the
 * screen is read anew.
 */
export function useLiveChanges(slug: string, mode: Mode): void {
  const client = useQueryClient()
  useEffect(
    () =>
      listenToChanges(`${workspacePath(slug, 'changes')}?mode=${mode}`, () =>
        client.invalidateQueries({ queryKey: liveKey(slug, mode) }),
      ),
    [client, slug, mode],
  )
}

/**
 * A page that nobody looks at is told nothing; it reads anew when it is looked at again. A stream that ends is opened
 * again by the browser; one that was refused, by us, later. Answers how to end it.
 */
function listenToChanges(path: string, refresh: () => Promise<void>): () => void {
  let source: EventSource | null = null
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  let isRefreshing = false
  let hasMore = false
  let refreshableAt = Number.NEGATIVE_INFINITY
  const note = () => {
    // A read that is under way may be older than the change: it is let finish, and another one follows.
    if (isRefreshing) hasMore = true
    else refreshTimer ??= setTimeout(() => void run(), Math.max(0, refreshableAt - performance.now()))
  }
  const run = async () => {
    const startedAt = performance.now()
    isRefreshing = true
    hasMore = false
    await refresh()
    isRefreshing = false
    refreshTimer = undefined
    refreshableAt = startedAt + Math.max(REFRESH_GAP_MS, REFRESH_GAP_FACTOR * (performance.now() - startedAt))
    if (hasMore && source !== null) note()
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
    // What happened before it was listened to, or while the connection was away.
    opened.addEventListener('ready', note)
    opened.addEventListener('error', () => {
      if (opened.readyState === EventSource.CLOSED) retryTimer = setTimeout(open, RETRY_GAP_MS)
    })
    source = opened
  }
  const follow = () => {
    if (document.hidden) close()
    else if (source === null) open()
  }
  follow()
  document.addEventListener('visibilitychange', follow)
  return () => {
    document.removeEventListener('visibilitychange', follow)
    close()
    clearTimeout(refreshTimer)
  }
}

/** The beginning of the key of every query whose answer changes by itself: `[...liveKey(slug, mode), 'payments', …]`. */
export function liveKey(slug: string, mode: Mode): readonly ['workspaces', string, Mode] {
  return ['workspaces', slug, mode]
}
