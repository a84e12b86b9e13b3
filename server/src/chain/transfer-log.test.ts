import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeAbiParameters, encodeEventTopics, erc20Abi, getAddress } from 'viem'
import type { Address } from '../values/address.ts'
import { NodeFault } from './errors.ts'
import { LOGS_PER_READ_MAX, parseTransferLogs, type LogsRequest } from './transfer-log.ts'

const USDC = getAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913') as Address
const PAYER = getAddress('0x52908400098527886e0f7030069857d2e4169ee7') as Address
const WALLET = getAddress('0x8617e340b3d01fa5f11f306f4090fd50e238070d') as Address
const OTHER = getAddress('0xde709f2102306220921060314715629080e2fb77') as Address
const HASHES = { tx: `0x${'a'.repeat(64)}`, block: `0x${'b'.repeat(64)}`, other: `0x${'c'.repeat(64)}` } as const
const FIRST = `0x${'1'.repeat(64)}` as const

const question: LogsRequest = {
  contract: USDC,
  from: 16n,
  to: 20n,
  recipients: [WALLET],
  hashes: new Map([[16n, FIRST]]),
}

function log(change: object = {}): object {
  return {
    address: USDC.toLowerCase(),
    topics: transferTopics(WALLET),
    data: encodeAbiParameters([{ type: 'uint256' }], [5_000_000n]),
    transactionHash: HASHES.tx,
    blockNumber: '0x12',
    blockHash: HASHES.block,
    logIndex: '0x3',
    removed: false,
    ...change,
  }
}

function transferTopics(to: Address): unknown[] {
  return encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: PAYER, to } })
}

describe('parseTransferLogs', () => {
  it('parses a transfer and its position', async () => {
    assert.deepEqual(await parseTransferLogs(question, [log()]), [
      {
        contract: USDC,
        from: PAYER,
        to: WALLET,
        amountMicro: 5_000_000n,
        txHash: HASHES.tx,
        blockNumber: 18n,
        blockHash: HASHES.block,
        logIndex: 3n,
      },
    ])
  })

  it('sorts the logs of all responses in the chain’s order', async () => {
    const [late, early, between] = [
      log({ blockNumber: '0x13', blockHash: HASHES.other, logIndex: '0x0' }),
      log({ logIndex: '0x9' }),
      log({ logIndex: '0xa' }),
    ]
    const places = await parseTransferLogs(question, [late, between, early])
    assert.deepEqual(
      places.map(({ blockNumber, logIndex }) => [blockNumber, logIndex]),
      [
        [18n, 9n],
        [18n, 10n],
        [19n, 0n],
      ],
    )
  })

  const LEFT_OUT: [string, object][] = [
    ['of another contract', { address: OTHER }],
    ['to somebody else', { topics: transferTopics(OTHER) }],
    ['of an ERC-721 token, which has four topics', { topics: [...transferTopics(WALLET), HASHES.other], data: '0x' }],
    [
      'of another event',
      { topics: encodeEventTopics({ abi: erc20Abi, eventName: 'Approval', args: { owner: PAYER, spender: WALLET } }) },
    ],
    ['without an amount', { data: '0x' }],
    ['with too few topics', { topics: transferTopics(WALLET).slice(0, 2) }],
  ]
  for (const [name, change] of LEFT_OUT) {
    it(`leaves out a log ${name}`, async () => {
      assert.deepEqual(await parseTransferLogs(question, [log(change)]), [])
    })
  }

  it('parses transfers to all recipients if none is given, even many of them', async () => {
    const count = 1_000
    const logs = Array.from({ length: count }, (_, n) =>
      log({ topics: transferTopics(n % 2 === 0 ? WALLET : OTHER), logIndex: `0x${n.toString(16)}` }),
    )
    const transfers = await parseTransferLogs({ ...question, recipients: null }, logs)
    assert.equal(transfers.filter(({ to }) => to === OTHER).length, count / 2)
    assert.equal(transfers.length, count)
  })

  it('rejects more logs than its limit', async () => {
    const logs = Array.from({ length: LOGS_PER_READ_MAX + 1 }, () => null)
    await assert.rejects(parseTransferLogs(question, logs), /too many logs/)
  })

  const FAULTS: [string, readonly unknown[]][] = [
    ['no log', [null]],
    ['a log that is a word', ['log']],
    ['a log without topics', [log({ topics: null })]],
    ['a log that was removed', [log({ removed: true })]],
    ['a log that waits for its block', [log({ blockNumber: null, blockHash: null, logIndex: null })]],
    ['a log below the range', [log({ blockNumber: '0xf' })]],
    ['a log above the range', [log({ blockNumber: '0x15' })]],
    ['a transaction without a hash', [log({ transactionHash: '0x1' })]],
    ['a decimal index', [log({ logIndex: 3 })]],
    ['one log in two responses', [[log()], [log()]]],
    ['a block with two hashes', [log(), log({ logIndex: '0x4', blockHash: HASHES.other })]],
    ['a known block with another hash', [log({ blockNumber: '0x10' })]],
  ]
  for (const [name, answers] of FAULTS) {
    it(`faults the node for ${name}`, async () => {
      await assert.rejects(parseTransferLogs(question, answers), NodeFault)
    })
  }

  it('accepts a known block with its known hash', async () => {
    const [transfer] = await parseTransferLogs(question, [log({ blockNumber: '0x10', blockHash: FIRST })])
    assert.equal(transfer?.blockHash, FIRST)
  })
})
