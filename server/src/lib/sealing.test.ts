import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createSealer, SEALING_KEY_BYTES } from './sealing.ts'

const sealer = createSealer(randomBytes(SEALING_KEY_BYTES))

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
    assert.throws(() => createSealer(randomBytes(SEALING_KEY_BYTES)).open(sealed, 'context'))
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

  test('a key of another length is rejected', () => {
    for (const length of [0, 16, 31, 33]) assert.throws(() => createSealer(randomBytes(length)), /32 bytes/)
  })
})
