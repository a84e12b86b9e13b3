import type { Address } from '../../values/address.ts'
import type { MicroUsdc } from '../../values/money.ts'
import { Problem } from '../../values/problem.ts'
import { CONTRACTS_MAX, GRANT_RECIPIENTS_MAX, type GrantPolicy } from './grant.ts'

/** The limits that a caller asks a grant to have. */
export interface GrantTerms {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly recipientAllowlist: readonly Address[]
  /** Default: the chain's USDC contract (D14), or for a replacement, the contracts of the grant that it replaces. */
  readonly contractAllowlist?: readonly Address[] | undefined
  readonly expiresAt: Date | null
}

/** Returns the policy that the terms describe. Throws 400, naming the term that is not allowed. */
export function checkPolicy(
  terms: GrantTerms,
  { defaultContracts, now }: { defaultContracts: readonly Address[]; now: Date },
): GrantPolicy {
  const { maxPerTxMicro, dailyCapMicro, recipientAllowlist, contractAllowlist = defaultContracts, expiresAt } = terms
  if (recipientAllowlist.length > GRANT_RECIPIENTS_MAX) {
    throw invalidTerm('recipient_allowlist', `must have at most ${GRANT_RECIPIENTS_MAX} addresses`)
  }
  if (contractAllowlist.length < 1 || contractAllowlist.length > CONTRACTS_MAX) {
    throw invalidTerm('contract_allowlist', `must have 1 to ${CONTRACTS_MAX} addresses`)
  }
  if (expiresAt !== null && expiresAt <= now) throw invalidTerm('expires_at', 'must be in the future')
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
