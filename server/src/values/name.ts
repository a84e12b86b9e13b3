import { NAME_CHARS_MAX } from './limits.ts'
import { countCodePoints, isStorable } from './text.ts'
import { invalidMember } from './invalid-request.ts'

/** White space and characters that no font draws. A name that has only such characters would look empty. */
const BLANK = String.raw`\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800`
const VISIBLE = new RegExp(`[^${BLANK}]`, 'u')
/**
 * Control characters, line ends and invisible characters. They can make two names look alike, or change the direction
 * of the text around them.
 */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u
/**
 * Some scripts, and emoji made of several characters, need joiners between their characters. `STRAY_JOINER` matches a
 * joiner that is not between two visible characters (`INSIDE`).
 */
const INSIDE = String.raw`(?:[\p{Variation_Selector}\p{M}]|[^${BLANK}])`
const STRAY_JOINER = new RegExp(String.raw`(?<!${INSIDE})[\u200c\u200d]|[\u200c\u200d](?!${INSIDE})`, 'u')

/**
 * Parses a name or label that a user has written. Returns the trimmed name. Returns null if the name is not allowed: it
 * must have 1 to 100 characters, at least one of them visible. The rules are strict because other people see the name
 * where they decide about money or access.
 */
export function parseName(text: string): string | null {
  const name = text.trim()
  if (!VISIBLE.test(name) || !isStorable(name) || FORBIDDEN.test(name) || STRAY_JOINER.test(name)) return null
  return countCodePoints(name) <= NAME_CHARS_MAX ? name : null
}

/** Returns the trimmed name. If it is not allowed, throws 400 `validation_failed` that names the field `member`. */
export function checkName(text: string, member = 'name'): string {
  const name = parseName(text)
  if (name !== null) return name
  throw invalidMember(member, `must have 1 to ${NAME_CHARS_MAX} characters, without control or invisible characters`)
}
