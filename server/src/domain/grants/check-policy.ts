import type { Address } from '../../values/address.ts'
import type { MicroUsdc } from '../../values/money.ts'
import { Problem } from '../../values/problem.ts'
import { CONTRACTS_MAX, GRANT_RECIPIENTS_MAX, type GrantPolicy } from './grant.ts'

/** What a grant is asked to allow. */
export interface GrantTerms {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly recipientAllowlist: readonly Address[]
  /** Default: the chain's USDC (D14); of a replacement: what the grant has that it replaces. */
  readonly contractAllowlist?: readonly Address[] | undefined
  readonly expiresAt: Date | null
}

/** Makes a policy of them; 400 names the term that can be none. */
export function checkPolicy(
  terms: GrantTerms,
  { defaultContracts, now }: { defaultContracts: readonly Address[]; now: Date },
): GrantPolicy {
  const { maxPerTxMicro, dailyCapMicro, recipientAllowlist, contractAllowlist = defaultContracts, expiresAt } = terms
  if (recipientAllowlist.length > GRANT_RECIPIENTS_MAX) {
    throw invalidTerm('recipient_allowlist', `holds at most ${GRANT_RECIPIENTS_MAX} addresses`)
  }
  if (contractAllowlist.length < 1 || contractAllowlist.length > CONTRACTS_MAX) {
    throw invalidTerm('contract_allowlist', `holds 1 to ${CONTRACTS_MAX} addresses`)
  }
  if (expiresAt !== null && expiresAt <= now) throw invalidTerm('expires_at', 'must lie in the future')
  return {
    maxPerTxMicro,
    dailyCapMicro,
    recipientAllowlist: [...new Set(recipientAllowlist)],
    contractAllowlist: [...new Set(contractAllowlist)],
    expiresAt,
  }
}

export function invalidTerm(path: string, message: string): Problem {
  return new Problem('validation_failed', `${path} ${message}.`, { details: [{ path, message }] })
}
