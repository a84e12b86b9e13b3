import type { SlotRules } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import type { Grant } from './grant.ts'

/** Returns the rules that make a grant active at the enclave. */
export function rulesOf({ enclave, chains }: Pick<Context, 'enclave' | 'chains'>, grant: Grant): SlotRules {
  const { chainId, usdc } = chains[grant.mode]
  return enclave.toRules({ ...grant, grantId: grant.id, chainId, usdc })
}

/**
 * Returns whether a slot's rules have the id of this grant as their name. The caller still compares the rules with the
 * grant's terms before it records anything.
 */
export function isEnforced(rules: SlotRules, { id }: Pick<Grant, 'id'>): boolean {
  return rules.some(({ name }) => name === id)
}
