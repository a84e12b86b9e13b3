import { createPublicKey } from 'node:crypto'

const PEM_LINE = /-----(?:BEGIN|END) PUBLIC KEY-----/g

/**
 * Returns a P-256 public key as base64 SPKI DER without white space, with the uncompressed point. The enclave accepts
 * several forms (PEM, base64 with line breaks), and does not document which one it returns. Two members of a quorum are
 * the same if their normalized keys are equal. Any other text is returned unchanged, so it equals no key of ours.
 */
export function normalizePublicKey(text: string): string {
  const base64 = text.replace(PEM_LINE, '').replace(/\s/g, '')
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' })
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return text
    // An export as SPKI would keep a compressed point. A JWK always has both coordinates.
    const jwk = key.export({ format: 'jwk' })
    return createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' }).toString('base64')
  } catch {
    return text
  }
}
