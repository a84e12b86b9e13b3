/** A page without a key press or touch for this long counts as unattended. */
const UNATTENDED_AFTER_MS = 5 * 60_000
const ACTIVITY_EVENTS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

let seenAt = 0

/** Notes when the person last used the page. Returns a function that stops watching. */
export function watchPresence(): () => void {
  const note = () => {
    seenAt = performance.now()
  }
  note()
  for (const type of ACTIVITY_EVENTS) window.addEventListener(type, note, { passive: true, capture: true })
  return () => {
    for (const type of ACTIVITY_EVENTS) window.removeEventListener(type, note, { capture: true })
  }
}

/** Requests of an unattended page do not keep the session alive. */
export function isUnattended(): boolean {
  return performance.now() - seenAt > UNATTENDED_AFTER_MS
}
