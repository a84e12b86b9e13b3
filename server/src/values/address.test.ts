import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseAddress, ZERO_ADDRESS } from './address.ts'

/** The examples in EIP-55. */
const CHECKSUMMED = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]
const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

describe('parseAddress', () => {
  for (const address of CHECKSUMMED) {
    test(`${address} is parsed to itself, also when written in one case`, () => {
      assert.equal(parseAddress(address), address)
      assert.equal(parseAddress(address.toLowerCase()), address)
      assert.equal(parseAddress(`0x${address.slice(2).toUpperCase()}`), address)
    })
  }

  test('a mixed-case address with a wrong checksum is rejected', () => {
    assert.equal(parseAddress('0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'), null)
    assert.equal(parseAddress(MIXED.replace('0x5aA', '0x5aa')), null)
  })

  test('changing the case of any one letter is rejected', () => {
    const letters = MIXED.split('').flatMap((character, index) =>
      index > 1 && /[a-f]/i.test(character) ? [index] : [],
    )
    fc.assert(
      fc.property(fc.constantFrom(...letters), (index) => {
        const letter = MIXED.charAt(index)
        const flipped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
        assert.equal(parseAddress(MIXED.slice(0, index) + flipped + MIXED.slice(index + 1)), null)
      }),
    )
  })

  const malformed = [
    ...['', '0x', MIXED.slice(2), `0X${MIXED.slice(2).toLowerCase()}`, MIXED.slice(0, -1), `${MIXED}0`, ` ${MIXED}`],
    ...[`${MIXED}\n`, `0x${'g'.repeat(40)}`, `0x${'٠'.repeat(40)}`, `0x${'0'.repeat(64)}`, 'vitalik.eth'],
  ]
  for (const text of malformed) {
    test(`${JSON.stringify(text)} is refused`, () => assert.equal(parseAddress(text), null))
  }

  test('the zero address is parsed; callers decide whether to reject it', () => {
    assert.equal(parseAddress(`0x${'0'.repeat(40)}`), ZERO_ADDRESS)
  })
})
