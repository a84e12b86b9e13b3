/** Specification, part 8. The enclave counts UTF-16 units, and turned 50 away once (its texts differ), hence one less. */
const POLICY_NAME_UNITS_MAX = 49

/** The name at the enclave, made from the agent's id (D17), cut between code points. */
export function policyName(agentId: string): string {
  let name = ''
  for (const character of `agent ${agentId}`) {
    if (name.length + character.length > POLICY_NAME_UNITS_MAX) break
    name += character
  }
  return name.trim()
}
