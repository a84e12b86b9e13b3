import { fromBase64, fromBase64Url, toBase64, type Bytes } from '../bytes.ts'
import { findRecord, type PaymentEvidence, type PlacedSignature } from './payment-evidence.ts'

const PEM_PATTERN = /^-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----$/
/** The start of the only form that a P-256 key has in SPKI DER with an uncompressed point: 91 bytes. */
const P256_PREFIX = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE'
const KEY_BYTES = 91

/**
 * Reads the public key of an owner: PEM, or the SPKI in DER as base64 or base64url. Returns it in base64, and null if it is
 * not such a key on the curve P-256.
 */
export function parseOwnerKey(text: string): string | null {
  const [, body = text] = PEM_PATTERN.exec(text.trim()) ?? []
  const encoded = body.replaceAll(/\s/g, '')
  const bytes: Bytes | null = fromBase64(encoded) ?? fromBase64Url(encoded)
  if (bytes === null || bytes.length !== KEY_BYTES) return null
  const key = toBase64(bytes)
  return key.startsWith(P256_PREFIX) ? key : null
}

/**
 * Returns the signatures whose passkey owned the wallet when the service received them. The user says who owned it first
 * (`ownerKeys`, in base64). After that, only an owner can change who owns it. The order is that of the leaves: the clocks
 * of two processes differ, and a service can make up a time more easily than a position in its log.
 */
export function findOwnersSignatures(
  { signatures, decided }: Pick<PaymentEvidence, 'signatures' | 'decided'>,
  ownerKeys: readonly string[],
): ReadonlySet<PlacedSignature> {
  let keys: ReadonlySet<string> = new Set(ownerKeys)
  const found = new Set<PlacedSignature>()
  for (const signature of signatures.toSorted(compareLeaves)) {
    if (!keys.has(signature.publicKey)) continue
    found.add(signature)
    keys = readNewOwners(signature, { record: findRecord(signatures, signature), wallet: decided.leaf.wallet }) ?? keys
  }
  return found
}

/** Signatures without a leaf were kept before signatures had leaves, so they are earlier than all others. */
function compareLeaves({ leaf: one }: PlacedSignature, { leaf: other }: PlacedSignature): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null)
  return one.log - other.log || one.position - other.position
}

/**
 * Returns who owns the wallet after this change. Null if the signature does not change the owners of this wallet. Which
 * list of owners the wallet has is in the record that the same passkey has signed. If a new owner could say it, an owner
 * who was added to another wallet could own this one.
 */
function readNewOwners(
  { meaning, publicKey }: PlacedSignature,
  { record, wallet }: { record: PlacedSignature | null; wallet: string },
): ReadonlySet<string> | null {
  if (meaning.kind !== 'owners' || record?.meaning.kind !== 'record') return null
  const { quorumId, enclaveUrl, appId, address } = record.meaning.record
  if (address !== wallet) return null
  if (meaning.quorumId !== quorumId || meaning.enclaveUrl !== enclaveUrl || meaning.appId !== appId) return null
  // The signer page lets nobody remove the own passkey.
  return meaning.publicKeys.includes(publicKey) ? new Set(meaning.publicKeys) : null
}
