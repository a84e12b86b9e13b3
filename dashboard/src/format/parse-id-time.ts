const TIME_PATTERN = /^[a-z]+_([0-9A-HJKMNP-TV-Z]{10})[0-9A-HJKMNP-TV-Z]{16}$/
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Reads the creation time from one of our IDs. Returns ISO 8601, or null if the text is not such an ID. */
export function parseIdTime(id: string): string | null {
  const time = TIME_PATTERN.exec(id)?.[1]
  if (time === undefined) return null
  const date = new Date(Array.from(time).reduce((value, letter) => value * 32 + BASE32.indexOf(letter), 0))
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
