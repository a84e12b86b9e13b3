import { createHash } from 'node:crypto'
import type { Query } from '../../db/query.ts'
import type { Context } from '../context.ts'
import { formatSignatureSubject } from '../transparency-log/leaf.ts'
import { formatSignatureEntry, hashSignatureEntry } from './evidence-entry.ts'
import { insertOwnerSignature } from './owner-signatures-store.ts'
import { signatureSealContext, type OwnerSignature, type SignaturePurpose } from './owner-signature.ts'

/**
 * Stores an owner's signature as evidence (D78), encrypted if somebody might use it again. Must run in the transaction
 * that records its submission, before the enclave is called, so that a crash loses no signature that has an effect.
 * The same statement queues its leaf in the transparency log (D80). Changes nothing if this passkey's signature of the
 * same request is stored already.
 */
export function keepSignature(
  { sealer }: Pick<Context, 'sealer'>,
  signature: OwnerSignature,
  purpose: SignaturePurpose,
): Query<boolean> {
  const { credentialId, challenge } = signature
  const challengeSha256 = createHash('sha256').update(challenge).digest()
  const assertion = JSON.stringify(signature.assertion)
  const place = { workspaceId: purpose.workspaceId, credentialId, challengeSha256 }
  const stored =
    purpose.usableUntil === null
      ? { sealed: null, open: assertion }
      : { sealed: sealer.seal(assertion, signatureSealContext(place)), open: null }
  const entrySha256 = hashSignatureEntry(formatSignatureEntry({ ...signature, ...purpose }))
  const leafSubject = formatSignatureSubject(place)
  return insertOwnerSignature({ ...signature, ...purpose, challengeSha256, entrySha256, leafSubject, ...stored })
}
