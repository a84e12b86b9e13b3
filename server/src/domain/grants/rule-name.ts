import { RULE_NAME_CHARS_MAX } from '../../enclave/rule-name-limit.ts'
import { isId } from '../../values/ids.ts'
import { formatAmount, parseAmount, type MicroUsdc } from '../../values/money.ts'

/**
 * What the name of a grant's rules says. The owner signs the name together with the rules (D79).
 *
 * The name is `<grant id> <24-hour limit>`, with the limit as the shortest decimal of USDC. A slash and further amounts
 * are reserved for later versions.
 */
export interface RuleName {
  readonly grantId: string
  /** Null for a grant that was signed before the limit was part of the name. The name is then the grant's id. */
  readonly dailyCapMicro: MicroUsdc | null
}

const GRANT_ID_CHARS = 30
/** The most characters that the name has room for after the grant's id and a space. */
const CAP_CHARS_MAX = RULE_NAME_CHARS_MAX - GRANT_ID_CHARS - 1

/** Completes the message about a 24-hour limit that `fitsRuleName` rejects. */
export const CAP_RULE = `must have at most ${CAP_CHARS_MAX} digits, the decimal point included, because the owner signs it in a name of limited length`

/** Returns whether a rule's name has room for this 24-hour limit. */
export function fitsRuleName(dailyCapMicro: MicroUsdc): boolean {
  return formatAmount(dailyCapMicro).length <= CAP_CHARS_MAX
}

export function formatRuleName({ grantId, dailyCapMicro }: RuleName): string {
  return dailyCapMicro === null ? grantId : `${grantId} ${formatAmount(dailyCapMicro)}`
}

/** Returns null for every text that `formatRuleName` would not write, such as the name that a later version wrote. */
export function parseRuleName(name: string): RuleName | null {
  const [grantId = '', amount = ''] = name.split(' ')
  const parsed = { grantId, dailyCapMicro: parseAmount(amount) }
  const isKnown = name.length <= RULE_NAME_CHARS_MAX && isId('grant', grantId) && formatRuleName(parsed) === name
  return isKnown ? parsed : null
}

/** Returns the id of the grant that a rule's name begins with, also if this version does not know the rest of the name. */
export function grantIdOf(name: string): string {
  return name.split(' ', 1)[0] ?? ''
}
