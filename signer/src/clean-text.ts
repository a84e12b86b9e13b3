const CHARS_MAX = 80
/** Characters that are not visible, or that change the direction of the text around them. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Matches the marks of one letter after the first two. More marks would cover the lines above and below. */
const MARKS_SURPLUS = /(\p{M}{2})\p{M}+/gu

/**
 * Reduces somebody else's text to one short line of visible characters, so that the text cannot look like a part of
 * this page.
 */
export function cleanText(text: string): string {
  const line = cleanLine(text)
  const characters = Array.from(line)
  return characters.length > CHARS_MAX ? `${characters.slice(0, CHARS_MAX).join('')}…` : line
}

/** Reduces somebody else's text to one line of visible characters. */
export function cleanLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').replaceAll(INVISIBLE, '').replaceAll(MARKS_SURPLUS, '$1').trim()
}
