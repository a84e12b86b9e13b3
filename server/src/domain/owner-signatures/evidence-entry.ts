import { createHash } from 'node:crypto'
import { canonicalJson } from '../../lib/canonical-json.ts'
import type { OwnerSignature, SignaturePurpose } from './owner-signature.ts'

/** A signature with what a file of evidence says about it. */
export type DescribedSignature = Omit<OwnerSignature, 'challenge'> & Omit<SignaturePurpose, 'usableUntil'>

/** A signature as a file of evidence contains it. All bytes are in base64url without padding. */
export type SignatureEntry = ReturnType<typeof formatSignatureEntry>

/**
 * Formats a signature as a file of evidence contains it. The transparency log contains the hash of the result, so it must
 * be the same for the row that was read as it was for the signature that was received.
 */
export function formatSignatureEntry(signature: DescribedSignature) {
  const { actor, assertion, registration, statement } = signature
  return {
    actor: { id: actor.id ?? null, kind: actor.kind },
    assertion: {
      authenticator_data: assertion.authenticatorData,
      client_data_json: assertion.clientDataJSON,
      signature: assertion.signature,
    },
    credential: signature.credentialId,
    kind: signature.kind,
    mode: signature.mode,
    origin: signature.site.origin,
    public_key: signature.publicKey.toString('base64url'),
    received_at: signature.receivedAt.toISOString(),
    registered_at: signature.registeredAt.toISOString(),
    registration:
      registration === null
        ? null
        : {
            attestation_object: toBase64url(registration.attestationObject),
            client_data_json: toBase64url(registration.clientDataJSON),
          },
    relying_party: signature.site.id,
    statement: statement === null ? null : Buffer.from(statement).toString('base64url'),
    subject: signature.subject,
    user: signature.userId,
    workspace: signature.workspaceId,
  }
}

/** Returns the SHA-256 of the entry in canonical JSON. */
export function hashSignatureEntry(entry: SignatureEntry): Buffer {
  return createHash('sha256').update(canonicalJson(entry)).digest()
}

/** Encodes again what a browser has sent, because there is more than one base64url of the same bytes. */
function toBase64url(text: string): string {
  return Buffer.from(text, 'base64url').toString('base64url')
}
