const LINE_CHARACTERS = 64

/** Formats a public key (SPKI DER in base64) as PEM (RFC 7468). */
export function formatPem(base64: string): string {
  const lines = base64.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? []
  return `${['-----BEGIN PUBLIC KEY-----', ...lines, '-----END PUBLIC KEY-----'].join('\n')}\n`
}
