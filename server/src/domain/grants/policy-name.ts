/**
 * The specification allows 50 (part 8), but the enclave counts UTF-16 units and has rejected a name of 50, hence one
 * less.
 */
const POLICY_NAME_UNITS_MAX = 49

/** Returns the policy's name at the enclave, made from the agent's id and cut between code points (D17). */
export function policyName(agentId: string): string {
  let name = ''
  for (const character of `agent ${agentId}`) {
    if (name.length + character.length > POLICY_NAME_UNITS_MAX) break
    name += character
  }
  return name.trim()
}
