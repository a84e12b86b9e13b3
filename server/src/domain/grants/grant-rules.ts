import type { SlotRules } from '../../enclave/enclave.ts'
import type { Context } from '../context.ts'
import type { Grant } from './grant.ts'
import { formatRuleName, grantIdOf } from './rule-name.ts'

type RulesContext = Pick<Context, 'enclave' | 'chains'>

/** Returns the rules that make a grant active at the enclave. Their name contains the 24-hour limit (D79). */
export function rulesOf(ctx: RulesContext, grant: Grant): SlotRules {
  return makeRules(ctx, grant, formatRuleName({ ...grant, grantId: grant.id }))
}

/**
 * Returns the rules that the enclave should have for a grant that an owner has signed. If `found`, the rules that it
 * has, have only the grant's id as their name, the grant was signed before the 24-hour limit was part of the name.
 */
export function rulesAsSigned(ctx: RulesContext, grant: Grant, found: SlotRules): SlotRules {
  return found.some(({ name }) => name === grant.id) ? makeRules(ctx, grant, grant.id) : rulesOf(ctx, grant)
}

/**
 * Returns whether the name of a slot's rules begins with the id of this grant. The caller still compares the rules with
 * the grant's terms before it records anything.
 */
export function isEnforced(rules: SlotRules, { id }: Pick<Grant, 'id'>): boolean {
  return rules.some(({ name }) => grantIdOf(name) === id)
}

function makeRules({ enclave, chains }: RulesContext, grant: Grant, ruleName: string): SlotRules {
  const { chainId, usdc } = chains[grant.mode]
  return enclave.toRules({ ...grant, ruleName, chainId, usdc })
}
