import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseBlockHeader } from './block-header.ts'
import { NodeFault } from './errors.ts'

const HASHES = { block: `0x${'b'.repeat(64)}`, other: `0x${'c'.repeat(64)}` } as const

describe('parseBlockHeader', () => {
  const block = { number: '0x12', hash: HASHES.block, parentHash: HASHES.other, timestamp: '0x20', transactions: [] }

  it('reads the hashes of a block and of its parent, and its time', () => {
    assert.deepEqual(parseBlockHeader(18n, block), { hash: HASHES.block, parentHash: HASHES.other, seconds: 32n })
  })

  const FAULTS: [string, unknown][] = [
    ['a block that it has not seen yet', null],
    ['another block', { ...block, number: '0x13' }],
    ['a block without a hash', { ...block, hash: null }],
    ['a block without a parent', { ...block, parentHash: undefined }],
    ['a block without a time', { ...block, timestamp: undefined }],
    ['a list', [block]],
  ]
  for (const [name, answer] of FAULTS) {
    it(`faults the node for ${name}`, () => {
      assert.throws(() => parseBlockHeader(18n, answer), NodeFault)
    })
  }
})
