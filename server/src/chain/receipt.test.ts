import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeAbiParameters, encodeEventTopics, erc20Abi, getAddress } from 'viem'
import { NodeFault } from './errors.ts'
import { parseReceipt } from './receipt.ts'

const HASH = `0x${'a'.repeat(64)}` as const
const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const PAYER = '0x52908400098527886e0f7030069857d2e4169ee7'
const PAYEE = '0x8617e340b3d01fa5f11f306f4090fd50e238070d'

function transferLog(change: object = {}): object {
  return {
    address: USDC,
    topics: encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: PAYER, to: PAYEE } }),
    data: encodeAbiParameters([{ type: 'uint256' }], [5_000_000n]),
    ...change,
  }
}

function answer(change: object = {}): object {
  return {
    transactionHash: HASH,
    blockNumber: '0x10',
    blockHash: `0x${'b'.repeat(64)}`,
    status: '0x1',
    logs: [transferLog()],
    ...change,
  }
}

describe('parseReceipt', () => {
  it('reads block, status and transfers as viem encodes them, with checksummed addresses', () => {
    assert.deepEqual(parseReceipt(HASH, answer()), {
      blockNumber: 16n,
      blockHash: `0x${'b'.repeat(64)}`,
      status: 'success',
      transfers: [
        { contract: getAddress(USDC), from: getAddress(PAYER), to: getAddress(PAYEE), amountMicro: 5_000_000n },
      ],
    })
  })

  it('takes no receipt, and one without a block, for not mined', () => {
    assert.equal(parseReceipt(HASH, null), null)
    assert.equal(parseReceipt(HASH, answer({ blockNumber: null, blockHash: null })), null)
  })

  it('tells a reverted receipt', () => {
    assert.equal(parseReceipt(HASH, answer({ status: '0x0', logs: [] }))?.status, 'reverted')
  })

  it('leaves out whatever is no ERC-20 transfer', () => {
    const erc20 = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: PAYER, to: PAYEE } })
    const logs = [
      transferLog({
        topics: encodeEventTopics({ abi: erc20Abi, eventName: 'Approval', args: { owner: PAYER, spender: PAYEE } }),
      }),
      transferLog({ topics: [...erc20, `0x${'0'.repeat(63)}1`] }),
      transferLog({ topics: erc20.slice(0, 2) }),
      transferLog({ topics: [] }),
      transferLog({ topics: [erc20[0], `0x${'f'.repeat(64)}`, erc20[2]] }),
      transferLog({ data: '0x' }),
    ]
    assert.deepEqual(parseReceipt(HASH, answer({ logs }))?.transfers, [])
  })

  const GARBAGE: [string, unknown][] = [
    ['a receipt of another transaction', answer({ transactionHash: `0x${'c'.repeat(64)}` })],
    ['no status', answer({ status: undefined })],
    ['no logs', answer({ logs: undefined })],
    ['a decimal block number', answer({ blockNumber: 16 })],
    ['no block hash', answer({ blockHash: '0x1' })],
    ['a word', 'mined'],
    ['a list', [answer()]],
  ]
  for (const [name, value] of GARBAGE) {
    it(`faults the node for ${name}`, () => {
      assert.throws(() => parseReceipt(HASH, value), NodeFault)
    })
  }
})
