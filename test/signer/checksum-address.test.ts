import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 as hashWithViem, toHex } from 'viem/utils'
import { parseAddress } from '../../server/src/values/address.ts'
import { checksumAddress } from '../../signer/src/describe/checksum-address.ts'
import { keccak256 } from '../../signer/src/keccak.ts'

test('addresses have the checksum of EIP-55, as on the dashboard', () => {
  const spread = Array.from({ length: 64 }, (_, index) => {
    return `0x${((BigInt(index) + 1n) * 0x9e3779b97f4a7c15f39cc0605cedc8341082276bn).toString(16).slice(-40).padStart(40, '0')}`
  })
  for (const address of [
    '0x52908400098527886e0f7030069857d2e4169ee7',
    '0xdbf03b407c01e7cd3cbea99509d93f8dddc8c6fb',
    ...spread,
  ]) {
    assert.equal(checksumAddress(address), parseAddress(address))
  }
})

test('the hash is Keccak-256, up to the longest message of one block', () => {
  for (const length of [0, 1, 40, 134, 135]) {
    const message = new Uint8Array(length).fill(97)
    assert.equal(toHex(keccak256(message)), hashWithViem(message))
  }
  assert.throws(() => keccak256(new Uint8Array(136)), RangeError)
})
