/** A line of at most this many characters fits beside a copy button on a small phone. */
const LINE_CHARS_MAX = 24

/** Splits a text into parts of almost equal length, such as an address into two lines of 21 characters. */
export function splitEvenly(text: string): readonly string[] {
  const characters = Array.from(text)
  const lines = Math.max(1, Math.ceil(characters.length / LINE_CHARS_MAX))
  const size = Math.ceil(characters.length / lines)
  return Array.from({ length: lines }, (_, line) => characters.slice(line * size, (line + 1) * size).join(''))
}
