import { randomBytes } from 'node:crypto'

/**
 * Crockford's base 32. Its texts sort like the numbers that they encode. It leaves out letters that look like digits.
 */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_CHARS = 10
const RANDOM_CHARS = 16
/** Random bytes are generated for this many ids at once, because each call to the operating system has a fixed cost. */
const IDS_PER_DRAW = 256

let drawn = Buffer.alloc(0)
let used = 0

/**
 * Returns a ULID: 26 characters that encode 48 bits of Unix milliseconds and 80 random bits. Ids sort by creation time
 * (D18b).
 */
export function createSortableId(now: Date): string {
  let text = formatSortableTime(now)
  for (const byte of drawRandom()) text += BASE32.charAt(byte & 31)
  return text
}

/** Returns the prefix of all ids that are created in this millisecond. */
export function formatSortableTime(at: Date): string {
  let time = at.getTime()
  let text = ''
  for (let index = 0; index < TIME_CHARS; index += 1) {
    text = BASE32.charAt(time % 32) + text
    time = Math.floor(time / 32)
  }
  return text
}

/** Returns the time that `formatSortableTime` encoded. `text` may be followed by other characters, as in an id. */
export function parseSortableTime(text: string): Date {
  let time = 0
  for (const character of text.slice(0, TIME_CHARS)) time = time * 32 + BASE32.indexOf(character)
  return new Date(time)
}

/** Returns the random bytes for one id. No byte is returned twice. */
function drawRandom(): Buffer {
  if (used === drawn.length) {
    drawn = randomBytes(IDS_PER_DRAW * RANDOM_CHARS)
    used = 0
  }
  used += RANDOM_CHARS
  return drawn.subarray(used - RANDOM_CHARS, used)
}
