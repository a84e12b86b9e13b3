import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Mode } from './wire.ts'
import { workspacePath } from './workspaces.ts'

/** Changes come in bursts; the page reads anew at most this often. */
const REFRESH_GAP_MS = 1_500
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
      listenToChanges(`${workspacePath(slug, 'changes')}?mode=${mode}`, () => {
        void client.invalidateQueries({ queryKey: liveKey(slug, mode) })
      }),
    [client, slug, mode],
  )
}

/**
 * A page that nobody looks at is told nothing; it reads anew when it is looked at again. A stream that ends is opened
 * again by the browser; one that was refused, by us, later. Answers how to end it.
 */
function listenToChanges(path: string, onChange: () => void): () => void {
  let source: EventSource | null = null
  let changeTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  let changedAt = Number.NEGATIVE_INFINITY
  const change = () => {
    changeTimer = undefined
    changedAt = performance.now()
    onChange()
  }
  const note = () => {
    changeTimer ??= setTimeout(change, Math.max(0, changedAt + REFRESH_GAP_MS - performance.now()))
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
    clearTimeout(changeTimer)
  }
}

/** The beginning of the key of every query whose answer changes by itself: `[...liveKey(slug, mode), 'payments', …]`. */
export function liveKey(slug: string, mode: Mode): readonly ['workspaces', string, Mode] {
  return ['workspaces', slug, mode]
}
