import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { describe, test } from 'node:test'
import { NO_PYTHON, runPython } from './python-verifier.ts'

interface Vector {
  readonly name: string
  readonly key: Buffer
  readonly message: Buffer
  readonly signature: Buffer
}

const hex = (text: string): Buffer<ArrayBuffer> => Buffer.from(text, 'hex')
const toHex = ({ key, message, signature }: Vector): string[] =>
  [key, message, signature].map((one) => one.toString('hex'))

/** RFC 8032, section 7.1: tests 1 to 3, and that of SHA(abc). */
const RFC_8032 = [
  [
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
  [
    'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf2',
    createHash('sha512').update('abc').digest('hex'),
    'dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704',
  ],
].map(([key = '', message = '', signature = ''], index): Vector => ({
  name: `RFC 8032, number ${index + 1}`,
  key: hex(key),
  message: hex(message),
  signature: hex(signature),
}))

const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
const P256_ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
const SPKI_BYTES = 12

describe('the signatures in evidence, as Python verifies them', { skip: NO_PYTHON }, () => {
  test('Ed25519: the vectors of RFC 8032 and of Node are valid, and nothing else', () => {
    const made = Array.from({ length: 12 }, (_, index) => makeEd25519(Buffer.alloc(index * 20, index)))
    const valid = [...RFC_8032, ...made]
    const [sample = assert.fail()] = valid.slice(4)
    const s = fromLittleEndian(sample.signature.subarray(32))
    const invalid: Vector[] = [
      ...valid.map((one) => ({ ...one, message: Buffer.concat([one.message, hex('00')]) })),
      ...flipEach(sample),
      { ...sample, name: 's + L', signature: withS(sample, s + ED25519_ORDER) },
      { ...sample, name: 'a byte too many', signature: Buffer.concat([sample.signature, hex('00')]) },
      { ...sample, name: 'a key that is no point', key: Buffer.from(`02${'00'.repeat(31)}`, 'hex') },
      // The neutral point and its second encoding, with which a signature of anything could be made.
      { ...sample, name: 'y = p + 1', key: hex(`ee${'ff'.repeat(30)}7f`), signature: hex(`01${'00'.repeat(63)}`) },
      {
        ...sample,
        name: 'x = 0 with a sign',
        key: hex(`01${'00'.repeat(30)}80`),
        signature: hex(`01${'00'.repeat(63)}`),
      },
      { ...sample, name: 'R = p + 1', signature: hex(`ee${'ff'.repeat(30)}7f${'00'.repeat(32)}`) },
    ]
    const code = `from ed25519 import verify
print(json.dumps([verify(*map(bytes.fromhex, one)) for one in given]))`
    check(code, { valid, invalid, reference: verifyEd25519 })
  })

  test('P-256: the signatures of Node are valid, and nothing else', () => {
    const valid = Array.from({ length: 16 }, (_, index) => makeP256(Buffer.alloc(index * 20, index)))
    const [sample = assert.fail()] = valid.slice(3)
    const { r, s } = readDer(sample.signature)
    const change = (name: string, signature: Buffer): Vector => ({ ...sample, name, signature })
    const invalid = [
      ...valid.map((one) => ({ ...one, message: Buffer.concat([one.message, hex('00')]) })),
      ...flipEach(sample),
      ...[0n, P256_ORDER, s + P256_ORDER].map((other) => change(`s = ${other}`, toDer(r, other))),
      ...[0n, P256_ORDER, r + P256_ORDER].map((other) => change(`r = ${other}`, toDer(other, s))),
      change('a byte too many', Buffer.concat([sample.signature, hex('00')])),
      change('a byte too few', sample.signature.subarray(0, -1)),
      change('nothing', Buffer.alloc(0)),
      change('zeros in front', toDer(r, s, hex('0000'))),
      change('a long form of the length', Buffer.concat([hex('3081'), sample.signature.subarray(1)])),
      change('the two integers alone', Buffer.concat([toBytes(r), toBytes(s)])),
    ]
    const code = `import p256
points = [(p256.read_public_key(bytes.fromhex(key)), bytes.fromhex(message), bytes.fromhex(der)) for key, message, der in given]
print(json.dumps([point is not None and p256.verify(point, message, der) for point, message, der in points]))`
    check(code, { valid, invalid, reference: verifyP256 })
    // The second signature that everybody can make of the first is as valid: ECDSA cannot prevent it.
    const twin = change('n - s', toDer(r, P256_ORDER - s))
    assert.deepEqual(runPython(code, [toHex(twin)]), [true])
  })

  test('P-256: a key that is no point of the curve is no key', () => {
    const { key } = makeP256(Buffer.alloc(0))
    const head = key.subarray(0, -64)
    const [x, y] = [key.subarray(-64, -32), key.subarray(-32)]
    const field = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
    const compressed = Buffer.concat([head.subarray(0, -1), hex('02'), x])
    const keys = [
      key,
      Buffer.concat([head, y, x]),
      Buffer.concat([head, Buffer.alloc(64)]),
      Buffer.concat([head, x, toBytes(field - BigInt(`0x${y.toString('hex')}`) + 1n)]),
      Buffer.concat([head, toBytes(field), y]),
      Buffer.concat([key, hex('00')]),
      compressed,
    ]
    const code = `import p256
print(json.dumps([p256.read_public_key(bytes.fromhex(key)) is not None for key in given]))`
    const found = runPython(
      code,
      keys.map((one) => one.toString('hex')),
    )
    assert.deepEqual(found, [true, ...Array.from({ length: keys.length - 1 }, () => false)])
  })
})

/** Compares Python with Node, and both with what is expected. */
function check(
  code: string,
  given: { valid: readonly Vector[]; invalid: readonly Vector[]; reference: (vector: Vector) => boolean },
): void {
  const vectors = [...given.valid, ...given.invalid]
  const found = runPython(code, vectors.map(toHex)) as boolean[]
  for (const [index, vector] of vectors.entries()) {
    const expected = index < given.valid.length
    assert.equal(found[index], expected, vector.name)
    if (expected) assert.ok(given.reference(vector), vector.name)
  }
}

/** Returns the vector with each byte of its signature changed, one at a time. */
function flipEach(vector: Vector): Vector[] {
  return Array.from(vector.signature.keys(), (index) => {
    const signature = Buffer.from(vector.signature)
    signature.writeUInt8(signature.readUInt8(index) ^ 0x41, index)
    return { ...vector, name: `byte ${index} of the signature`, signature }
  })
}

function makeEd25519(message: Buffer): Vector {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI_BYTES)
  return { name: `Ed25519 of ${message.length} bytes`, key, message, signature: sign(null, message, privateKey) }
}

function verifyEd25519({ key, message, signature }: Vector): boolean {
  const spki = Buffer.concat([hex('302a300506032b6570032100'), key])
  return verify(null, message, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature)
}

function makeP256(message: Buffer): Vector {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = publicKey.export({ format: 'der', type: 'spki' })
  return { name: `P-256 of ${message.length} bytes`, key, message, signature: sign('sha256', message, privateKey) }
}

function verifyP256({ key, message, signature }: Vector): boolean {
  return verify('sha256', message, createPublicKey({ key, format: 'der', type: 'spki' }), signature)
}

function fromLittleEndian(bytes: Buffer): bigint {
  return BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`)
}

function withS({ signature }: Vector, s: bigint): Buffer {
  return Buffer.concat([signature.subarray(0, 32), toBytes(s).toReversed()])
}

function toBytes(number: bigint): Buffer {
  return hex(number.toString(16).padStart(64, '0'))
}

function readDer(der: Buffer): { r: bigint; s: bigint } {
  const length = der.readUInt8(3)
  const at = 4 + length
  const toNumber = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`)
  return { r: toNumber(der.subarray(4, at)), s: toNumber(der.subarray(at + 2)) }
}

/** Encodes a signature in DER, with `front` before the digits of both integers. */
function toDer(r: bigint, s: bigint, front = Buffer.alloc(0)): Buffer {
  const encode = (number: bigint): Buffer => {
    const digits = number.toString(16)
    const bytes = hex(digits.padStart(digits.length + (digits.length % 2), '0'))
    const sign = bytes.readUInt8(0) >= 0x80 ? hex('00') : Buffer.alloc(0)
    const content = Buffer.concat([front, sign, bytes])
    return Buffer.concat([Buffer.from([0x02, content.length]), content])
  }
  const content = Buffer.concat([encode(r), encode(s)])
  return Buffer.concat([Buffer.from([0x30, content.length]), content])
}
