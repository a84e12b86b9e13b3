import { unknown } from './shape.ts'

/** `grt_` and 26 characters of Crockford's base 32. */
const GRANT_ID_PATTERN = /^grt_[0-9A-HJKMNP-TV-Z]{26}$/
/** The shortest form of a decimal with at most 6 decimal places, so that every amount has one form only. */
const AMOUNT_PATTERN = /^(0|[1-9][0-9]*)(?:\.([0-9]{0,5}[1-9]))?$/
const NAME_CHARS_MAX = 49
const MICRO_DIGITS = 6

/** What the name of a rule says. */
export interface RuleName {
  readonly grantId: string
  /** The 24-hour limit in millionths of USDC. Null if the name contains none, as in earlier versions of the service. */
  readonly dailyMax: bigint | null
}

/**
 * Reads the name of a rule: the id of a grant, a space and the 24-hour limit. Refuses every other name, because this page
 * could not describe all that it says.
 */
export function readRuleName(name: string): RuleName {
  const what = 'the name of the rule'
  const [grantId = '', limits, ...more] = name.split(' ')
  if (name.length > NAME_CHARS_MAX || more.length > 0 || !GRANT_ID_PATTERN.test(grantId)) throw unknown(what)
  if (limits === undefined) return { grantId, dailyMax: null }
  const [dailyMax = '', ...others] = limits.split('/')
  const amount = toMicro(dailyMax)
  if (others.length > 0 || amount === null || amount === 0n) throw unknown(what)
  return { grantId, dailyMax: amount }
}

function toMicro(text: string): bigint | null {
  const [, whole, fraction = ''] = AMOUNT_PATTERN.exec(text) ?? []
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(MICRO_DIGITS, '0'))
}
