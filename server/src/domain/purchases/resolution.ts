import { RESOLUTION_CHARS_MAX } from '../../values/limits.ts'
import { countCodePoints, isStorable } from '../../values/text.ts'

/** Says that a member has dealt with a purchase that was paid and not delivered. */
export interface Resolution {
  readonly resolvedAt: Date
  /** The id of the member. */
  readonly resolvedBy: string
  /** What the member wrote about it. */
  readonly note: string
}

/** Parses what a member wrote. Null if it is empty or too long. */
export function parseResolutionNote(text: string): string | null {
  const note = text.trim()
  return note !== '' && isStorable(note) && countCodePoints(note) <= RESOLUTION_CHARS_MAX ? note : null
}
