import { unknown } from './shape.ts'

/** `grt_` and 26 characters of Crockford's base 32. */
const GRANT_ID_PATTERN = /^grt_[0-9A-HJKMNP-TV-Z]{26}$/
/** The shortest form of a decimal with at most 6 decimal places, so that every amount has one form only. */
const AMOUNT_PATTERN = /^(0|[1-9][0-9]*)(?:\.([0-9]{0,5}[1-9]))?$/
const NAME_CHARS_MAX = 49
const MICRO_DIGITS = 6

/**
 * Reads the 24-hour limit from the name of a rule, in millionths of USDC. The name is the id of a grant, a space and the
 * limit. Returns null for a name without a limit: the service did not sign the limit in earlier versions. Refuses every
 * other name, because this page could not describe all that it says.
 */
export function readDailyMax(name: string): bigint | null {
  const what = 'the name of the rule'
  const [grantId = '', limits, ...more] = name.split(' ')
  if (name.length > NAME_CHARS_MAX || more.length > 0 || !GRANT_ID_PATTERN.test(grantId)) throw unknown(what)
  if (limits === undefined) return null
  const [dailyMax = '', ...others] = limits.split('/')
  const amount = toMicro(dailyMax)
  if (others.length > 0 || amount === null || amount === 0n) throw unknown(what)
  return amount
}

function toMicro(text: string): bigint | null {
  const [, whole, fraction = ''] = AMOUNT_PATTERN.exec(text) ?? []
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(MICRO_DIGITS, '0'))
}
