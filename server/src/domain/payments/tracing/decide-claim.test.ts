import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TxHash } from '../payment.ts'
import { decideClaim } from './trace-transfer.ts'

const ONE: TxHash = `0x${'1'.repeat(64)}`
const TWO: TxHash = `0x${'2'.repeat(64)}`

type Row = [
  name: string,
  found: TxHash[],
  others: { with?: [TxHash, number][]; undecided?: number },
  decision: TxHash | 'absent' | 'open',
]

const ROWS: Row[] = [
  ['the only transfer, and nobody else', [ONE], {}, ONE],
  ['the only transfer is that of another payment', [ONE], { with: [[ONE, 1]] }, 'absent'],
  ['two in one transaction, one of them that of another payment', [ONE, ONE], { with: [[ONE, 1]] }, ONE],
  ['the first is taken, the second is free', [ONE, TWO], { with: [[ONE, 1]] }, TWO],
  ['another payment may account for it', [ONE], { undecided: 1 }, 'open'],
  ['more transfers than other payments, but which is whose?', [ONE, TWO], { undecided: 1 }, 'open'],
  ['all are accounted for, whoever else is undecided', [ONE], { with: [[ONE, 1]], undecided: 1 }, 'absent'],
  ['more payments than transfers in a transaction', [ONE], { with: [[ONE, 2]] }, 'absent'],
]

describe('decideClaim', () => {
  for (const [name, found, { with: known = [], undecided = 0 }, decision] of ROWS) {
    it(name, () => {
      assert.equal(decideClaim(found, { byTransaction: new Map(known), undecided }), decision)
    })
  }
})
