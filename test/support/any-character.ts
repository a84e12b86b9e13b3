import fc from 'fast-check'

const SURROGATES_START = 0xd800
const SURROGATES = 0x800
const LAST = 0x10ffff

/**
 * Any Unicode character, like fast-check's unit `binary`. That one first builds a map of all characters, which takes
 * 0.9 s in each process. Because characters can be turned back into numbers, fast-check also puts names such as
 * `__proto__` into the strings.
 */
export const ANY_CHARACTER = fc.integer({ min: 0, max: LAST - SURROGATES }).map(toCharacter, toNumber)

function toCharacter(number: number): string {
  return String.fromCodePoint(number < SURROGATES_START ? number : number + SURROGATES)
}

/** The inverse of `toCharacter`. Throws if the value is anything else, as fast-check expects. */
function toNumber(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined
  if (code === undefined || value !== String.fromCodePoint(code)) throw new Error('this is not one character')
  const number = code < SURROGATES_START ? code : code - SURROGATES
  if (value !== toCharacter(number)) throw new Error('a surrogate is not a character')
  return number
}
