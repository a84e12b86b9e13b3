const TIME_PATTERN = /^[a-z]+_([0-9A-HJKMNP-TV-Z]{10})[0-9A-HJKMNP-TV-Z]{16}$/
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** When something with one of our ids was made, as its id tells: ISO 8601; null for any other text. */
export function readIdTime(id: string): string | null {
  const time = TIME_PATTERN.exec(id)?.[1]
  if (time === undefined) return null
  const date = new Date(Array.from(time).reduce((value, letter) => value * 32 + BASE32.indexOf(letter), 0))
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
