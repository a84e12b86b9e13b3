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

export function keepLastMode(slug: string, mode: Mode): void {
  try {
    window.localStorage.setItem(keyOf(slug), mode)
  } catch {
    // Then each visit begins in test mode.
  }
}

function keyOf(slug: string): string {
  return `mode:${slug}`
}
