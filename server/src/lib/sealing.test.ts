import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createSealer, fingerprintOf, SEALING_KEY_BYTES, type SealingKey } from './sealing.ts'

const newKey = (id: string | null = null, key = randomBytes(SEALING_KEY_BYTES)): SealingKey => ({ id, key })
const sealer = createSealer([newKey()])

describe('createSealer', () => {
  test('a sealed text can be opened in its context', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (plaintext, context) => {
        assert.equal(sealer.open(sealer.seal(plaintext, context), context), plaintext)
      }),
    )
  })

  test('it cannot be opened in another context', () => {
    const sealed = sealer.seal('secret', 'workspace 1')
    assert.throws(() => sealer.open(sealed, 'workspace 2'))
  })

  test('it cannot be opened with another key', () => {
    const sealed = sealer.seal('secret', 'context')
    assert.throws(() => createSealer([newKey('1'), newKey()]).open(sealed, 'context'))
  })

  test('it cannot be opened if any bit was changed', () => {
    const sealed = sealer.seal('secret', 'context')
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Buffer.from(sealed)
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      assert.throws(() => sealer.open(altered, 'context'), `bit ${bit}`)
    }
  })

  test('it cannot be opened if it was cut short, even by a part of its tag', () => {
    for (const plaintext of ['secret', '']) {
      const sealed = sealer.seal(plaintext, 'context')
      for (let length = 0; length < sealed.length; length += 1) {
        assert.throws(() => sealer.open(sealed.subarray(0, length), 'context'), `${length} bytes`)
      }
    }
  })

  test('sealing the same text twice gives different bytes, which do not contain the text', () => {
    const [first, second] = [sealer.seal('secret', ''), sealer.seal('secret', '')]
    assert.notDeepEqual(first, second)
    assert.ok(!first.includes('secret'))
  })

  test('the newest key encrypts, and every key of the list decrypts, also after it was renamed or got an id', () => {
    const [old, named, newest] = [newKey(), newKey('1'), newKey('2')]
    const stored = [old, named, newest].map((key) => createSealer([key]).seal('secret', 'context'))
    const lists = [
      [newest, named, old],
      [newest, { ...named, id: '2b' }, { ...old, id: '1' }],
      [{ ...newest, id: null }, { ...old, id: '2' }, named],
    ]
    for (const keys of lists) {
      const all = createSealer(keys)
      for (const sealed of stored) assert.equal(all.open(sealed, 'context'), 'secret')
      const sealed = all.seal('new', 'context')
      assert.ok(sealed.subarray(0, all.mark.length).equals(all.mark))
      assert.equal(createSealer(keys.slice(0, 1)).open(sealed, 'context'), 'new')
      assert.throws(() => createSealer(keys.slice(1)).open(sealed, 'context'))
    }
    assert.equal(createSealer([newest]).mark.toString(), 'key:2:')
    assert.throws(() => createSealer([]), /no encryption key/)
  })

  test('a fingerprint names a key and nothing else', () => {
    const key = newKey('1')
    assert.equal(fingerprintOf(key), fingerprintOf({ ...key, id: null }))
    assert.notEqual(fingerprintOf(key), fingerprintOf(newKey('1')))
    assert.match(fingerprintOf(key), /^[0-9a-f]{32}$/)
    assert.equal(key.key.toString('hex').includes(fingerprintOf(key)), false)
  })

  test('a key of another length is rejected', () => {
    for (const length of [0, 16, 31, 33])
      assert.throws(() => createSealer([newKey(null, randomBytes(length))]), /32 bytes/)
  })
})
