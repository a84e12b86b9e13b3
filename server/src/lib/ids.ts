import { randomBytes } from 'node:crypto'

/** Crockford's base 32: sorts as its numbers do, and leaves out the letters that look like digits. */
const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_CHARS = 10
const RANDOM_CHARS = 16
/** Asking the system for randomness costs the same for one id as for many. */
const IDS_PER_DRAW = 256

let drawn = Buffer.alloc(0)
let used = 0

/** 26 characters (a ULID): 48 bits of Unix milliseconds, then 80 random bits, so that ids sort by time of creation (D18b). */
export function createSortableId(now: Date): string {
  let text = formatSortableTime(now)
  for (const byte of drawRandom()) text += BASE32.charAt(byte & 31)
  return text
}

/** What the ids of that millisecond begin with. */
export function formatSortableTime(at: Date): string {
  let time = at.getTime()
  let text = ''
  for (let index = 0; index < TIME_CHARS; index += 1) {
    text = BASE32.charAt(time % 32) + text
    time = Math.floor(time / 32)
  }
  return text
}

/** Bytes that nobody has had before. */
function drawRandom(): Buffer {
  if (used === drawn.length) {
    drawn = randomBytes(IDS_PER_DRAW * RANDOM_CHARS)
    used = 0
  }
  used += RANDOM_CHARS
  return drawn.subarray(used - RANDOM_CHARS, used)
}
