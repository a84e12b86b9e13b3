/** So long after the last key or touch nobody is taken to sit before the page. */
const UNATTENDED_AFTER_MS = 5 * 60_000
const SIGNS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

let seenAt = 0

/** Notes each sign of the person before the page. Answers how to end it. */
export function watchPresence(): () => void {
  const note = () => {
    seenAt = performance.now()
  }
  note()
  for (const sign of SIGNS) window.addEventListener(sign, note, { passive: true, capture: true })
  return () => {
    for (const sign of SIGNS) window.removeEventListener(sign, note, { capture: true })
  }
}

/** What the page reads while nobody sits before it keeps no session from ending. */
export function isUnattended(): boolean {
  return performance.now() - seenAt > UNATTENDED_AFTER_MS
}
