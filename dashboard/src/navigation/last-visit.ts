import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { isMode } from './paths.ts'

/** The mode in which this browser last showed a workspace. `test` by default. */
export function readLastMode(slug: string): Mode {
  try {
    const stored = window.localStorage.getItem(keyOf(slug))
    return stored !== null && isMode(stored) ? stored : 'test'
  } catch {
    // Local storage may be disabled.
    return 'test'
  }
}

/** The slug of the workspace last shown in this browser, or null. The user may no longer be a member of it. */
export function readLastSlug(): string | null {
  try {
    return window.localStorage.getItem(LAST_SLUG_KEY)
  } catch {
    return null
  }
}

export function saveLastVisit(slug: string, mode: Mode): void {
  try {
    window.localStorage.setItem(keyOf(slug), mode)
    window.localStorage.setItem(LAST_SLUG_KEY, slug)
  } catch {
    // Local storage may be disabled. Then every visit starts in test mode, and no last workspace is known.
  }
}

const LAST_SLUG_KEY = 'workspace'

function keyOf(slug: string): string {
  return `mode:${slug}`
}
