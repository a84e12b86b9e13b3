import type { Mode } from '../api/wire.ts'
import { isMode } from './paths.ts'

/** The mode in which somebody last looked at a workspace in this browser; `test` at first. */
export function readLastMode(slug: string): Mode {
  try {
    const kept = window.localStorage.getItem(keyOf(slug))
    return kept !== null && isMode(kept) ? kept : 'test'
  } catch {
    // A browser may keep nothing for us.
    return 'test'
  }
}

/** The workspace that somebody last looked at in this browser; null at first. It need not be theirs any more. */
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
    // Then each visit begins in test mode, and no workspace is the last one.
  }
}

const LAST_SLUG_KEY = 'workspace'

function keyOf(slug: string): string {
  return `mode:${slug}`
}
