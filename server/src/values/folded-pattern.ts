import { foldText } from './fold-text.ts'
import { countCodePoints } from './text.ts'

const ANY_MARKS = '[\u0300-\u036f]*'
const LETTER = /\p{L}/u

/** Latin, Greek and Cyrillic letters, with their variants. Letters of other scripts have neither case nor accents. */
const LETTER_RANGES = [
  [0x41, 0x52f],
  [0x1e00, 0x1fff],
] as const

/** The letters that fold to the same text, by that text. */
const VARIANTS: ReadonlyMap<string, readonly string[]> = Map.groupBy(LETTER_RANGES.flatMap(listLetters), foldText)

/**
 * Returns a regular expression of PostgreSQL that matches every text that contains `text`, regardless of case and
 * accents. It lists the variants of each letter, so it does not depend on the locale of the database.
 */
export function foldedPattern(text: string): string {
  return Array.from(text.normalize('NFC'), patternOf).join('')
}

function patternOf(character: string): string {
  const folded = foldText(character)
  // A mark that no letter takes up is optional, like all marks.
  if (folded === '') return ''
  const same = variantsOf(character, folded)
  if (countCodePoints(folded) === 1) return same
  const spelledOut = Array.from(folded, (letter) => variantsOf(letter, letter)).join('')
  return `(?:${same}|${spelledOut})`
}

function variantsOf(character: string, folded: string): string {
  const variants = VARIANTS.get(folded)
  const members = [...new Set([character, ...(variants ?? [])])].map((member) =>
    member.replace(/[\\\]^-]/, String.raw`\$&`),
  )
  return `[${members.join('')}]${variants === undefined ? '' : ANY_MARKS}`
}

function listLetters([first, last]: readonly [number, number]): string[] {
  const characters = Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index))
  return characters.filter((character) => LETTER.test(character))
}
