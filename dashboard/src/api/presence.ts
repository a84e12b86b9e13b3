/** A page is unattended when the user has not clicked, touched, scrolled or typed in it for this long. */
const UNATTENDED_AFTER_MS = 5 * 60_000
const ACTIVITY_EVENTS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

let seenAt = 0

/** Records when the user last used the page. Returns a function that stops recording. */
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

/** Whether the page is unattended. Requests of an unattended page do not extend the session. */
export function isUnattended(): boolean {
  return performance.now() - seenAt > UNATTENDED_AFTER_MS
}
