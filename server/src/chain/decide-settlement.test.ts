import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import type { Receipt, ReceiptTransfer, Transfer } from './parse-receipt.ts'
import { decideSettlement, type ExpectedTransfer } from './decide-settlement.ts'

const USDC = `0x${'1'.repeat(40)}` as Address
const PAYER = `0x${'2'.repeat(40)}` as Address
const PAYEE = `0x${'3'.repeat(40)}` as Address
const OTHER = `0x${'4'.repeat(40)}` as Address
const BLOCK_HASH = `0x${'b'.repeat(64)}` as const

const BUNDLER = `0x${'5'.repeat(40)}` as Address
const OPERATION = `0x${'e'.repeat(64)}` as const
const OTHER_OPERATION = `0x${'f'.repeat(64)}` as const

const transfer: Transfer = { contract: USDC, from: PAYER, to: PAYEE, amountMicro: microUsdc(5_000_000n) }
const expected: ExpectedTransfer = { ...transfer, operationHash: null }
const emitted: ReceiptTransfer = { ...transfer, logIndex: 7n, operationHash: null }

/** Makes a receipt. By default, the wallet itself sent the transaction. */
function receiptAt(blockNumber: bigint, change: Partial<Receipt> = {}): Receipt {
  const block = { blockNumber, blockHash: BLOCK_HASH }
  return {
    ...block,
    status: 'success',
    sender: PAYER,
    gasWei: null,
    transfers: [emitted],
    authorizations: [],
    operations: [],
    ...change,
  }
}

type Row = [name: string, receipt: Receipt | null, head: bigint, confirmations: number, answer: string]

const ROWS: Row[] = [
  ['no receipt waits', null, 10n, 1, 'waiting'],
  ['the head block is depth 1', receiptAt(10n), 10n, 1, 'confirmed'],
  ['depth 1 of 2 is only mined', receiptAt(10n), 10n, 2, 'mined'],
  ['depth 2 of 2 is confirmed', receiptAt(10n), 11n, 2, 'confirmed'],
  ['depth 11 of 12 is only mined', receiptAt(10n), 20n, 12, 'mined'],
  ['depth 12 of 12 is confirmed', receiptAt(10n), 21n, 12, 'confirmed'],
  ['a receipt above the head is only mined', receiptAt(11n), 10n, 1, 'mined'],
  ['a reverted receipt at the depth fails', receiptAt(10n, { status: 'reverted' }), 10n, 1, 'reverted'],
  ['a reverted receipt above the depth may still change', receiptAt(10n, { status: 'reverted' }), 10n, 2, 'mined'],
  ['a missing transfer at the depth fails', receiptAt(10n, { transfers: [] }), 10n, 1, 'transfer_missing'],
  ['a missing transfer above the depth may still change', receiptAt(10n, { transfers: [] }), 10n, 2, 'mined'],
  [
    'another contract does not count',
    receiptAt(10n, { transfers: [{ ...emitted, contract: OTHER }] }),
    10n,
    1,
    'transfer_missing',
  ],
  [
    'another payer does not count',
    receiptAt(10n, { transfers: [{ ...emitted, from: OTHER }] }),
    10n,
    1,
    'transfer_missing',
  ],
  [
    'another payee does not count',
    receiptAt(10n, { transfers: [{ ...emitted, to: OTHER }] }),
    10n,
    1,
    'transfer_missing',
  ],
  [
    'less does not count',
    receiptAt(10n, { transfers: [{ ...emitted, amountMicro: microUsdc(4_999_999n) }] }),
    10n,
    1,
    'transfer_missing',
  ],
  [
    'more does not count',
    receiptAt(10n, { transfers: [{ ...emitted, amountMicro: microUsdc(5_000_001n) }] }),
    10n,
    1,
    'transfer_missing',
  ],
  [
    'the transfer may be one of several',
    receiptAt(10n, { transfers: [{ ...emitted, to: OTHER }, emitted] }),
    10n,
    1,
    'confirmed',
  ],
]

describe('decideSettlement', () => {
  for (const [name, receipt, head, confirmations, answer] of ROWS) {
    it(name, () => {
      const settlement = decideSettlement({ receipt, head, confirmations, expected })
      assert.equal(settlement.kind === 'failed' ? settlement.reason : settlement.kind, answer)
      if (settlement.kind === 'waiting' || settlement.kind === 'unproven') return
      assert.equal(settlement.blockNumber, receipt?.blockNumber)
      assert.equal(settlement.blockHash, BLOCK_HASH)
    })
  }

  const bundled = { sender: BUNDLER, transfers: [{ ...emitted, operationHash: OPERATION }] }
  const operation = { hash: OPERATION, sender: PAYER, isSuccess: true }
  const other = { hash: OTHER_OPERATION, sender: PAYER, isSuccess: true }
  const BUNDLES: [string, Partial<Receipt>, operationHash: typeof OPERATION | null, answer: string][] = [
    ['its own operation confirms', { ...bundled, operations: [operation] }, OPERATION, 'confirmed 7'],
    [
      'its own operation that failed is a revert, though the transaction succeeded',
      { ...bundled, transfers: [], operations: [{ ...operation, isSuccess: false }] },
      OPERATION,
      'reverted',
    ],
    [
      'its own operation without the transfer fails',
      { ...bundled, transfers: [], operations: [operation] },
      OPERATION,
      'transfer_missing',
    ],
    [
      'the transfer of another operation does not count',
      {
        sender: BUNDLER,
        transfers: [{ ...emitted, operationHash: OTHER_OPERATION }],
        operations: [other, { ...operation, isSuccess: false }],
      },
      OPERATION,
      'reverted',
    ],
    [
      'an operation of another wallet under its hash proves nothing',
      { ...bundled, transfers: [], operations: [{ ...operation, sender: OTHER, isSuccess: false }] },
      OPERATION,
      'unproven',
    ],
    ['without its operation nothing is proven', { ...bundled, operations: [other] }, OPERATION, 'unproven'],
    ['a reverted bundle proves nothing', { sender: BUNDLER, status: 'reverted', transfers: [] }, OPERATION, 'unproven'],
    ['a bundle with an equal transfer confirms where no operation is known', bundled, null, 'confirmed 7'],
    [
      'a bundle without such a transfer proves nothing where no operation is known',
      { ...bundled, transfers: [] },
      null,
      'unproven',
    ],
    [
      'two equal transfers are both named, in order',
      { ...bundled, transfers: [{ ...emitted, logIndex: 3n }, emitted] },
      null,
      'confirmed 3,7',
    ],
  ]
  for (const [name, change, operationHash, answer] of BUNDLES) {
    it(name, () => {
      const settlement = decideSettlement({
        receipt: receiptAt(10n, change),
        head: 10n,
        confirmations: 1,
        expected: { ...transfer, operationHash },
      })
      const told = settlement.kind === 'failed' ? settlement.reason : settlement.kind
      const logs = settlement.kind === 'confirmed' ? ` ${settlement.logIndexes.join(',')}` : ''
      assert.equal(told + logs, answer)
    })
  }

  it('decides exactly from the depth on, whatever the receipt says', () => {
    const block = fc.bigInt(0n, 2n ** 40n)
    fc.assert(
      fc.property(
        block,
        block,
        fc.integer({ min: 1, max: 200 }),
        fc.boolean(),
        fc.boolean(),
        (at, head, depth, ok, paid) => {
          const receipt = receiptAt(at, { status: ok ? 'success' : 'reverted', transfers: paid ? [emitted] : [] })
          const { kind } = decideSettlement({ receipt, head, confirmations: depth, expected })
          const isDeepEnough = head >= at + BigInt(depth) - 1n
          assert.equal(kind, isDeepEnough ? (ok && paid ? 'confirmed' : 'failed') : 'mined')
        },
      ),
    )
  })

  it('never changes a decision while the head rises', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 1000n), fc.bigInt(0n, 1000n), fc.integer({ min: 1, max: 50 }), (head, rise, depth) => {
        const receipt = receiptAt(500n)
        const before = decideSettlement({ receipt, head, confirmations: depth, expected })
        const after = decideSettlement({ receipt, head: head + rise, confirmations: depth, expected })
        if (before.kind === 'confirmed') assert.equal(after.kind, 'confirmed')
      }),
    )
  })
})
