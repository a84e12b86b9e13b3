import { generateKeyPairSync, sign } from 'node:crypto'

const ECDSA_WITH_SHA256 = '2a8648ce3d040302'
const COMMON_NAME = '550403'
const [INTEGER, BIT_STRING, OBJECT_ID, UTF8_STRING, UTC_TIME, SEQUENCE, SET] = [2, 3, 6, 12, 23, 0x30, 0x31] as const
const FROM = '200101000000Z'
const LATE = '491231235959Z'

/**
 * Creates a key and a self-signed certificate (RFC 5280, section 4.1) for TLS servers. Tests use it for servers that a
 * client must trust, and for servers that it must reject. The certificate is encoded here, because Node can create keys
 * and signatures, but no certificates. It is valid until `until`, written as `YYMMDDhhmmssZ`.
 */
export function createSelfSigned(host: string, { until = LATE } = {}): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = encode(SEQUENCE, encode(OBJECT_ID, Buffer.from(ECDSA_WITH_SHA256, 'hex')))
  const attribute = [encode(OBJECT_ID, Buffer.from(COMMON_NAME, 'hex')), encode(UTF8_STRING, Buffer.from(host))]
  const name = encode(SEQUENCE, encode(SET, encode(SEQUENCE, ...attribute)))
  const times = [FROM, until].map((time) => encode(UTC_TIME, Buffer.from(time)))
  const facts = encode(
    SEQUENCE,
    encode(INTEGER, Buffer.of(1)),
    algorithm,
    name,
    encode(SEQUENCE, ...times),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = encode(BIT_STRING, Buffer.of(0), sign('sha256', facts, privateKey))
  const body = encode(SEQUENCE, facts, algorithm, signature).toString('base64')
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  }
}

/**
 * Encodes a value in DER (ITU-T X.690, section 10.1): its tag, its length in as few bytes as possible, and its content.
 */
function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content])
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, 0x80 + bytes.length, ...bytes), content])
}
