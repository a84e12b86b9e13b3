import type { Address } from '../../values/address.ts'
import type { MicroUsdc } from '../../values/money.ts'
import { CONTRACTS_MAX, GRANT_RECIPIENTS_MAX, PURCHASE_RECIPIENTS_MAX, type GrantPolicy } from './grant.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { CAP_RULE, fitsRuleName } from './rule-name.ts'

/** The limits that a caller requests for a grant. */
export interface GrantTerms {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly recipientAllowlist: readonly Address[]
  /**
   * If missing, a new grant allows the chain's USDC contract (D14), and a replacement allows the contracts of the grant
   * that it replaces.
   */
  readonly contractAllowlist?: readonly Address[] | undefined
  readonly expiresAt: Date | null
  /** Whether the grant allows purchases (D67). If missing, it does not. */
  readonly x402?: boolean | undefined
}

/** Returns the policy with the requested limits. Throws 400 that names the field with a value that is not allowed. */
export function checkPolicy(
  terms: GrantTerms,
  { usdc, defaultContracts, now }: { usdc: Address; defaultContracts: readonly Address[]; now: Date },
): GrantPolicy {
  const { maxPerTxMicro, dailyCapMicro, recipientAllowlist, contractAllowlist = defaultContracts } = terms
  const { expiresAt, x402 = false } = terms
  if (recipientAllowlist.length > GRANT_RECIPIENTS_MAX) {
    throw invalidMember('recipient_allowlist', `must have at most ${GRANT_RECIPIENTS_MAX} addresses`)
  }
  if (x402 && recipientAllowlist.length > PURCHASE_RECIPIENTS_MAX) {
    const rule = `must have at most ${PURCHASE_RECIPIENTS_MAX} addresses if the grant allows purchases`
    throw invalidMember('recipient_allowlist', rule)
  }
  if (contractAllowlist.length < 1 || contractAllowlist.length > CONTRACTS_MAX) {
    throw invalidMember('contract_allowlist', `must have 1 to ${CONTRACTS_MAX} addresses`)
  }
  if (x402 && !contractAllowlist.includes(usdc)) {
    throw invalidMember('contract_allowlist', `must contain ${usdc}, the contract that purchases are paid with`)
  }
  if (!fitsRuleName(dailyCapMicro)) throw invalidMember('daily_cap_usdc', CAP_RULE)
  if (expiresAt !== null && expiresAt <= now) throw invalidMember('expires_at', 'must be in the future')
  return {
    maxPerTxMicro,
    dailyCapMicro,
    recipientAllowlist: [...new Set(recipientAllowlist)],
    contractAllowlist: [...new Set(contractAllowlist)],
    expiresAt,
    x402,
  }
}
