import { banInCode, isServer } from '../rule.ts'

/** The files that verify a passkey's signature, and whose callers then check and store the signature counter. */
const VERIFYING_FILES = ['server/src/domain/passkeys/check-assertion.ts', 'server/src/domain/wallets/owner-passkey.ts']

export const COUNTED_SIGNATURES = banInCode({
  name: 'the signature of a passkey is verified only where its signature counter is checked',
  pattern: /\bverifyAuthenticationResponse\b/,
  instead:
    'call checkAssertion and advanceCounter, or checkOwnerSignature: a counter that goes back is the only sign of a copied passkey',
  holdsIn: (module) => isServer(module) && !VERIFYING_FILES.includes(module.path),
})
