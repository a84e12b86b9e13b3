import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { sessionQuery } from './session.ts'
import type { Mode } from './wire.ts'
import { workspacePath } from './workspaces.ts'

/** Changes come in bursts; the page reads anew at most this often: several pages stay far from the session's rate limit. */
const REFRESH_GAP_MS = 3_000
/** What takes long to read is read the more seldom: nothing piles up at the server. */
const REFRESH_GAP_FACTOR = 3
/** The server refuses a stream while it has too many, or is out of reach. */
const RETRY_GAP_MS = 20_000
/** A short break is nobody's concern. */
const TELL_AFTER_MS = 5_000

/**
 * Keeps what is shown of a workspace true without a reload: the server tells that something changed, and what is on the
 * screen is read anew. Answers whether it does: false once nothing could be heard for a while.
 */
export function useLiveChanges(slug: string, mode: Mode): boolean {
  const client = useQueryClient()
  const [isLive, setLive] = useState(true)
  useEffect(
    () =>
      listenToChanges(`${workspacePath(slug, 'changes')}?mode=${mode}`, {
        onChange: () => client.invalidateQueries({ queryKey: liveKey(slug, mode) }),
        onLive: setLive,
        // Perhaps one no longer belongs here: the session says.
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
 * A page that nobody looks at is told nothing; it reads anew when it is looked at again. A stream that ends is opened
 * again by the browser; one that was refused, by us, later. Answers how to end it.
 */
function listenToChanges(path: string, { onChange, onLive, onRefused }: Listener): () => void {
  let source: EventSource | null = null
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  let tellTimer: ReturnType<typeof setTimeout> | undefined
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
    await onChange()
    isRefreshing = false
    refreshTimer = undefined
    refreshableAt = startedAt + Math.max(REFRESH_GAP_MS, REFRESH_GAP_FACTOR * (performance.now() - startedAt))
    if (hasMore && source !== null) note()
  }
  const setLive = (isLive: boolean) => {
    if (isLive) {
      clearTimeout(tellTimer)
      tellTimer = undefined
      onLive(true)
    } else {
      tellTimer ??= setTimeout(() => onLive(false), TELL_AFTER_MS)
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
    // What happened before it was listened to, or while the connection was away.
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

/** The beginning of the key of every query whose answer changes by itself: `[...liveKey(slug, mode), 'payments', …]`. */
export function liveKey(slug: string, mode: Mode): readonly ['workspaces', string, Mode] {
  return ['workspaces', slug, mode]
}
