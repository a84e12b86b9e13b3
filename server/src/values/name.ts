import { Problem } from './problem.ts'
import { countCodePoints, isStorable } from './text.ts'

const NAME_CHARS_MAX = 100
/** White space, and what no font draws: a name that is nothing else looks like none. */
const BLANK = String.raw`\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800`
const VISIBLE = new RegExp(`[^${BLANK}]`, 'u')
/** Control characters, line ends, and what can't be seen: it makes two names look alike, or turns the text around it. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u
/** Some scripts, and emoji of several signs, are written with joiners, but only inside a word. */
const INSIDE = String.raw`(?:[\p{Variation_Selector}\p{M}]|[^${BLANK}])`
const STRAY_JOINER = new RegExp(String.raw`(?<!${INSIDE})[\u200c\u200d]|[\u200c\u200d](?!${INSIDE})`, 'u')

/**
 * A name or label that a person gives to themselves or to something of theirs, trimmed: 1 to 100 characters, one that can
 * be seen among them, or null. Others read it next to what they decide on.
 */
export function parseName(text: string): string | null {
  const name = text.trim()
  if (!VISIBLE.test(name) || !isStorable(name) || FORBIDDEN.test(name) || STRAY_JOINER.test(name)) return null
  return countCodePoints(name) <= NAME_CHARS_MAX ? name : null
}

/** The name in the form that is kept, or 400 `validation_failed`, naming the member. */
export function checkName(text: string, member = 'name'): string {
  const name = parseName(text)
  if (name !== null) return name
  const message = `must be 1 to ${NAME_CHARS_MAX} characters, without control or invisible characters`
  throw new Problem('validation_failed', `${member} ${message}.`, { details: [{ path: member, message }] })
}
