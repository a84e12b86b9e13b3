import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TxHash } from '../payment.ts'
import { decideMatch } from './decide-match.ts'

const ONE: TxHash = `0x${'1'.repeat(64)}`
const TWO: TxHash = `0x${'2'.repeat(64)}`

type Row = [
  name: string,
  found: TxHash[],
  others: { with?: [TxHash, number][]; undecided?: number },
  decision: TxHash | 'absent' | 'unproven',
]

const ROWS: Row[] = [
  ['one transfer, and no other payment', [ONE], {}, ONE],
  ['one transfer, which belongs to another payment', [ONE], { with: [[ONE, 1]] }, 'absent'],
  ['two transfers in one transaction, one of which belongs to another payment', [ONE, ONE], { with: [[ONE, 1]] }, ONE],
  ['two transactions, the first of which belongs to another payment', [ONE, TWO], { with: [[ONE, 1]] }, TWO],
  ['one transfer, which may belong to another payment', [ONE], { undecided: 1 }, 'unproven'],
  [
    'more transfers than other payments, but it is unknown which belongs to which',
    [ONE, TWO],
    { undecided: 1 },
    'unproven',
  ],
  [
    'all transfers belong to others, and one more payment is undecided',
    [ONE],
    { with: [[ONE, 1]], undecided: 1 },
    'absent',
  ],
  ['more other payments than transfers in a transaction', [ONE], { with: [[ONE, 2]] }, 'absent'],
]

describe('decideMatch', () => {
  for (const [name, found, { with: known = [], undecided = 0 }, decision] of ROWS) {
    it(name, () => {
      assert.equal(decideMatch(found, { byTransaction: new Map(known), undecided }), decision)
    })
  }
})
