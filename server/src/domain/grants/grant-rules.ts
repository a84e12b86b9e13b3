import { buildPolicyRules, type PolicyRule } from '../../enclave/privy/policy-rules.ts'
import type { Address } from '../../values/address.ts'
import type { Grant, GrantPolicy } from './grant.ts'

/**
 * Returns the rules that make a grant active at the enclave. They have the grant's id as their name, so the enclave's
 * record says which grant it enforces, even if two grants differ only in what the enclave cannot enforce (D16).
 */
export function rulesOf(
  grant: GrantPolicy & Pick<Grant, 'id'>,
  { chainId, usdc }: { readonly chainId: number; readonly usdc: Address },
): PolicyRule[] {
  return buildPolicyRules({ ...grant, chainId, usdc }).map((rule) => ({ ...rule, name: grant.id }))
}

/**
 * Returns whether a slot's rules have the id of this grant as their name. The caller still compares the rules with the
 * grant's terms before it records anything.
 */
export function isEnforced(rules: readonly PolicyRule[], { id }: Pick<Grant, 'id'>): boolean {
  return rules.some(({ name }) => name === id)
}
