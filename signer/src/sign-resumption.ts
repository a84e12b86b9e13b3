import type { Bytes } from './bytes.ts'
import { checkExpiry } from './check-request.ts'
import type { Resumption } from './decode/resumption.ts'
import { describeResumption } from './describe/describe-resumption.ts'
import type { Credential } from './find-record.ts'
import { signWithPasskey, type AssertionJson } from './passkeys.ts'
import type { Claims } from './read-message.ts'
import { Refusal } from './refusal.ts'
import { ask } from './show.ts'
import { sha256, verifyAssertion } from './verify-assertion.ts'

/**
 * Shows which grants are resumed, and asks a passkey to sign the SHA-256 of the statement. Returns null if the person
 * declines. The statement needs no wallet record: it is no request to the enclave, and the service checks that the
 * passkey owns the wallets.
 */
export async function signResumption(
  resumption: Resumption,
  {
    payload,
    credentials,
    claims,
    origin,
  }: { payload: Bytes; credentials: readonly Credential[]; claims: Claims; origin: string },
): Promise<AssertionJson | null> {
  checkExpiry(resumption, new Date())
  const { expiresAt } = resumption
  const shown = { ...claims, agentName: null, walletName: null }
  if (!(await ask({ origin, claims: shown, description: describeResumption(resumption, claims), expiresAt })))
    return null

  checkExpiry(resumption, new Date())
  const challenge = await sha256(payload)
  const assertion = await signWithPasskey(challenge, credentials)
  if (assertion === null) return null
  const publicKey = credentials.find(({ id }) => id === assertion.id)?.publicKey
  const signed = { payload: challenge, publicKey: publicKey ?? '', rpId: location.hostname }
  if (!(await verifyAssertion(assertion.response, signed))) {
    throw new Refusal(
      'passkey_invalid',
      'The passkey that you used is not the one that was asked for, so the signature was not sent.',
    )
  }
  return assertion
}
