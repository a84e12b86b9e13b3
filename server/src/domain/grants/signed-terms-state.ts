/**
 * What the enclave's record says about the terms of an active grant. `same`: it has exactly the terms that our database
 * has, so an owner has signed them. `different`: it has other terms for this grant. `not_enforced`: it has no rules of
 * this grant, for example because the result of a signed change is not recorded yet.
 */
export const SIGNED_TERMS_STATES = ['same', 'different', 'not_enforced'] as const

export type SignedTermsState = (typeof SIGNED_TERMS_STATES)[number]
