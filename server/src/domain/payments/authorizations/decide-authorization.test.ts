import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Receipt, ReceiptAuthorization, Transfer } from '../../../chain/parse-receipt.ts'
import type { Address } from '../../../values/address.ts'
import { microUsdc } from '../../../values/money.ts'
import type { TxHash } from '../payment.ts'
import { decideAuthorization, type Ending } from './decide-authorization.ts'

const USDC = `0x${'1'.repeat(40)}` as Address
const WALLET = `0x${'2'.repeat(40)}` as Address
const PAYEE = `0x${'3'.repeat(40)}` as Address
const OTHER = `0x${'4'.repeat(40)}` as Address
const NONCE: TxHash = `0x${'a'.repeat(64)}`
const TX: TxHash = `0x${'c'.repeat(64)}`
const BLOCK_HASH: TxHash = `0x${'b'.repeat(64)}`
const HEAD = 100n
const CONFIRMATIONS = 3
/** The newest block that is deep enough, and the oldest that is not. */
const [DEEP, SHALLOW] = [98n, 99n]

const transfer: Transfer = { contract: USDC, from: WALLET, to: PAYEE, amountMicro: microUsdc(5n) }
const expected = { ...transfer, authorizer: WALLET, nonce: NONCE }
const use: ReceiptAuthorization = {
  ...{ kind: 'used', contract: USDC, authorizer: WALLET, nonce: NONCE },
  transfer: { ...transfer, logIndex: 7n },
}
const cancel: ReceiptAuthorization = { ...use, kind: 'canceled', transfer: null }

function inBlock(blockNumber: bigint, ...authorizations: readonly ReceiptAuthorization[]): Ending {
  const block = { blockNumber, blockHash: BLOCK_HASH }
  const receipt: Receipt = {
    ...block,
    ...{ status: 'success', sender: OTHER, gasWei: null, transfers: [], authorizations, operations: [] },
  }
  return { txHash: TX, receipt }
}

const GONE: Ending = { txHash: TX, receipt: null }

type State = 'open' | 'ended' | 'expired'
type Row = [name: string, endings: readonly Ending[], state: State, answer: string]

const ROWS: readonly Row[] = [
  ['nothing yet', [], 'open', 'waiting'],
  ['a use at the depth confirms', [inBlock(DEEP, use)], 'open', 'confirmed 7'],
  ['a use above the depth is only mined', [inBlock(SHALLOW, use)], 'open', 'mined'],
  ['a use above the node’s head is only mined', [inBlock(HEAD + 1n, use)], 'open', 'mined'],
  ['a cancellation at the depth fails', [inBlock(DEEP, cancel)], 'ended', 'authorization_canceled'],
  ['a cancellation above the depth waits', [inBlock(SHALLOW, cancel)], 'open', 'waiting'],
  [
    'a cancellation above the depth waits even if the deep block shows expiry',
    [inBlock(SHALLOW, cancel)],
    'expired',
    'waiting',
  ],
  ['unused in a deep block that is late enough', [], 'expired', 'authorization_expired'],
  ['a transaction that no block contains proves nothing', [GONE], 'open', 'waiting'],
  ['a transaction that no block contains does not stop the expiry', [GONE], 'expired', 'authorization_expired'],
  ['a use outweighs the evidence that there was none', [inBlock(DEEP, use)], 'expired', 'confirmed 7'],
  ['a use above the depth outweighs it too', [inBlock(SHALLOW, use)], 'expired', 'mined'],
  ['ended, but no log of it was found', [], 'ended', 'waiting'],
  ['another nonce', [inBlock(DEEP, { ...use, nonce: TX })], 'open', 'waiting'],
  ['another wallet', [inBlock(DEEP, { ...use, authorizer: OTHER })], 'open', 'waiting'],
  ['another contract', [inBlock(DEEP, { ...use, contract: OTHER })], 'open', 'waiting'],
  ['a use without a transfer', [inBlock(DEEP, { ...use, transfer: null })], 'ended', 'transfer_not_found'],
  [
    'a use with another payee',
    [inBlock(DEEP, { ...use, transfer: { ...transfer, to: OTHER, logIndex: 7n } })],
    'ended',
    'transfer_not_found',
  ],
  [
    'a use with another amount',
    [inBlock(DEEP, { ...use, transfer: { ...transfer, amountMicro: microUsdc(6n), logIndex: 7n } })],
    'ended',
    'transfer_not_found',
  ],
  [
    'the own use among others in one transaction',
    [inBlock(DEEP, { ...use, nonce: TX, transfer: { ...transfer, logIndex: 5n } }, use)],
    'open',
    'confirmed 7',
  ],
  [
    'a transaction that was removed, and another that is deep',
    [GONE, inBlock(SHALLOW, use), inBlock(DEEP, use)],
    'open',
    'confirmed 7',
  ],
]

describe('what the chain proves about an authorization (D66)', () => {
  for (const [name, endings, state, answer] of ROWS) {
    test(`${name}: ${answer}`, () => {
      const outcome = decideAuthorization({ endings, state, head: HEAD, confirmations: CONFIRMATIONS, expected })
      const detail = outcome.kind === 'failed' ? outcome.code : outcome.kind
      assert.equal(outcome.kind === 'confirmed' ? `confirmed ${outcome.logIndex}` : detail, answer)
    })
  }
})
