import { fromBase64Url, type Bytes } from './bytes.ts'
import { parseCanonicalJson } from './canonical-json.ts'
import { decodeRecord, isRecord, type WalletRecord } from './decode/record.ts'
import { Refusal } from './refusal.ts'
import { verifyAssertion, type Assertion } from './verify-assertion.ts'

/** A wallet record with the signatures of the passkeys that confirmed it, as the service stores them. */
export interface SignedRecord {
  /** base64url of the canonical JSON. */
  readonly statement: string
  readonly assertions: readonly (Assertion & { readonly credentialId: string })[]
}

/** A passkey that may sign a request. */
export interface Credential {
  /** base64url */
  readonly id: string
  readonly rawId: Bytes
  /** base64 SPKI */
  readonly publicKey: string
}

/**
 * Returns the wallet record and the credentials that have signed it. Only these credentials may sign a request, because
 * each of them has confirmed for itself which policies, owners and signers belong to the wallet.
 */
export async function findRecord(
  signed: SignedRecord | null,
  { credentials, rpId }: { credentials: readonly Credential[]; rpId: string },
): Promise<{ record: WalletRecord; statement: string; signers: readonly Credential[] }> {
  if (signed === null) throw noRecord()
  const payload = fromBase64Url(signed.statement)
  const value = payload === null ? undefined : parseCanonicalJson(payload)
  if (payload === null || value === undefined || !isRecord(value)) {
    throw new Refusal('record_invalid', 'The record of the wallet cannot be read, so this page signs nothing.')
  }
  const record = decodeRecord(value)
  const results = await Promise.all(credentials.map(async (one) => hasSigned(one, { signed, payload, rpId })))
  const signers = credentials.filter((_, index) => results[index])
  if (signers.length === 0) throw noRecord()
  return { record, statement: signed.statement, signers }
}

async function hasSigned(
  { id, publicKey }: Credential,
  { signed, payload, rpId }: { signed: SignedRecord; payload: Bytes; rpId: string },
): Promise<boolean> {
  const assertion = signed.assertions.find(({ credentialId }) => credentialId === id)
  return assertion !== undefined && (await verifyAssertion(assertion, { payload, publicKey, rpId }))
}

function noRecord(): Refusal {
  return new Refusal('record_required', 'No passkey of this wallet has confirmed what belongs to the wallet yet.')
}
