import type { PolicyRule } from './policy-rules.ts'
import { buildRequest, type BuiltRequest, type EnclaveAddress } from './signable-request.ts'

/** A change to a policy's rules that an owner signs. The request contains the rules, so the owner signs the rules. */
export type PolicyChange = {
  readonly policyId: string
  /** All of the policy's rules after the change. If there are none, everything is denied. */
  readonly rules: readonly PolicyRule[]
  readonly expiresAt: Date
}

export type PolicyChangeBody = { readonly rules: PolicyRule[] }

export function buildPolicyChange(
  enclave: EnclaveAddress,
  { policyId, rules, expiresAt }: PolicyChange,
): BuiltRequest<PolicyChangeBody> {
  return buildRequest(enclave, { path: ['policies', policyId], body: { rules: [...rules] }, expiresAt })
}
