import { Problem } from './problem.ts'
import { countCodePoints, isStorable } from './text.ts'

const NAME_CHARS_MAX = 100
/** White space and characters that no font draws. A name that consists of nothing else would look empty. */
const BLANK = String.raw`\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800`
const VISIBLE = new RegExp(`[^${BLANK}]`, 'u')
/**
 * Control characters, line ends and invisible characters: they can make two names look alike, or change the direction
 * of the text around them.
 */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u
/** Some scripts, and emoji made of several characters, need joiners. They are only allowed inside a word. */
const INSIDE = String.raw`(?:[\p{Variation_Selector}\p{M}]|[^${BLANK}])`
const STRAY_JOINER = new RegExp(String.raw`(?<!${INSIDE})[\u200c\u200d]|[\u200c\u200d](?!${INSIDE})`, 'u')

/**
 * Parses a name or label that a user gives to themselves or to something of theirs. Returns it trimmed, or null unless
 * it has 1 to 100 characters, at least one of them visible. The rules are strict because others read the name next to
 * what they decide on.
 */
export function parseName(text: string): string | null {
  const name = text.trim()
  if (!VISIBLE.test(name) || !isStorable(name) || FORBIDDEN.test(name) || STRAY_JOINER.test(name)) return null
  return countCodePoints(name) <= NAME_CHARS_MAX ? name : null
}

/**
 * Returns the name as it is stored. Throws 400 `validation_failed`, naming the field `member`, if it is not allowed.
 */
export function checkName(text: string, member = 'name'): string {
  const name = parseName(text)
  if (name !== null) return name
  const message = `must be 1 to ${NAME_CHARS_MAX} characters, without control or invisible characters`
  throw new Problem('validation_failed', `${member} ${message}.`, { details: [{ path: member, message }] })
}
