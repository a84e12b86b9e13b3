import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeAbiParameters, encodeEventTopics, erc20Abi, getAddress, parseAbiItem, toEventSelector } from 'viem'
import { NodeFault } from './errors.ts'
import { parseReceipt } from './parse-receipt.ts'

const HASH = `0x${'a'.repeat(64)}` as const
const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const PAYER = '0x52908400098527886e0f7030069857d2e4169ee7'
const PAYEE = '0x8617e340b3d01fa5f11f306f4090fd50e238070d'
const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032'
const OPERATION_EVENT = parseAbiItem(
  'event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)',
)

function transferLog(change: object = {}): object {
  return {
    address: USDC,
    topics: encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: PAYER, to: PAYEE } }),
    data: encodeAbiParameters([{ type: 'uint256' }], [5_000_000n]),
    logIndex: '0x2',
    ...change,
  }
}

/** A log of an ended user operation, encoded by viem. */
function operationLog(hash: `0x${string}`, isSuccess: boolean): object {
  const args = { userOpHash: hash, sender: PAYER, paymaster: PAYEE } as const
  const uint256 = { type: 'uint256' } as const
  return {
    address: ENTRY_POINT,
    topics: encodeEventTopics({ abi: [OPERATION_EVENT], args }),
    data: encodeAbiParameters([uint256, { type: 'bool' }, uint256, uint256], [3n, isSuccess, 5n, 6n]),
  }
}

/** A log of EIP-3009, encoded by viem. */
function authorizationLog(
  eventName: 'AuthorizationUsed' | 'AuthorizationCanceled',
  nonce: `0x${string}`,
  change: object,
): object {
  const event = parseAbiItem(`event ${eventName}(address indexed authorizer, bytes32 indexed nonce)`)
  const topics = encodeEventTopics({ abi: [event], args: { authorizer: PAYER, nonce } })
  return { address: USDC, topics, data: '0x', ...change }
}

function answer(change: object = {}): object {
  return {
    transactionHash: HASH,
    blockNumber: '0x10',
    blockHash: `0x${'b'.repeat(64)}`,
    from: PAYER,
    status: '0x1',
    logs: [transferLog()],
    ...change,
  }
}

describe('parseReceipt', () => {
  it('adds up what the sender paid for gas, with the fee for publishing on OP stack chains', () => {
    const gas = (change: object): bigint | null | undefined => parseReceipt(HASH, answer(change))?.gasWei
    assert.equal(gas({}), null)
    assert.equal(gas({ gasUsed: '0x5', effectiveGasPrice: '0x3' }), 15n)
    assert.equal(gas({ gasUsed: '0x5', effectiveGasPrice: '0x3', l1Fee: '0xffffffffffffffff' }), 15n + 2n ** 64n - 1n)
    assert.equal(gas({ gasUsed: '0x5', effectiveGasPrice: `0x${'f'.repeat(64)}` }), null)
  })

  it('reads block, status and transfers as viem encodes them, with checksummed addresses', () => {
    assert.deepEqual(parseReceipt(HASH, answer()), {
      blockNumber: 16n,
      blockHash: `0x${'b'.repeat(64)}`,
      status: 'success',
      sender: getAddress(PAYER),
      gasWei: null,
      transfers: [
        {
          contract: getAddress(USDC),
          from: getAddress(PAYER),
          to: getAddress(PAYEE),
          amountMicro: 5_000_000n,
          logIndex: 2n,
          operationHash: null,
        },
      ],
      authorizations: [],
      operations: [],
    })
  })

  it('assigns a transfer to the authorization that made it, and leaves it out of the other transfers', () => {
    const [nonce, other] = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`] as const
    const logs = [
      transferLog({ logIndex: '0x3' }),
      authorizationLog('AuthorizationUsed', nonce, { logIndex: '0x4' }),
      transferLog({ logIndex: '0x5' }),
      transferLog({ logIndex: '0x6' }),
      authorizationLog('AuthorizationCanceled', other, { logIndex: '0x7' }),
      transferLog({ logIndex: '0x8' }),
      // The authorizations before the next two transfers did not make them: the first authorization is a log of another
      // contract, and the transfer after the second one does not have the next log index.
      authorizationLog('AuthorizationUsed', other, { logIndex: '0x9', address: PAYEE }),
      transferLog({ logIndex: '0xa' }),
      authorizationLog('AuthorizationUsed', other, { logIndex: '0xb' }),
      transferLog({ logIndex: '0xd' }),
    ]
    const receipt = parseReceipt(HASH, answer({ logs }))
    assert.deepEqual(
      receipt?.transfers.map(({ logIndex }) => logIndex),
      [3n, 6n, 8n, 10n, 13n],
    )
    assert.deepEqual(
      receipt.authorizations.map(({ kind, authorizer, nonce: one, transfer }) => [
        kind,
        authorizer,
        one,
        transfer?.logIndex,
      ]),
      [
        ['used', getAddress(PAYER), nonce, 5n],
        ['canceled', getAddress(PAYER), other, undefined],
        ['used', getAddress(PAYER), other, undefined],
        ['used', getAddress(PAYER), other, undefined],
      ],
    )
  })

  it('assigns transfers to the user operation that emitted them', () => {
    const [first, second] = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`] as const
    const forged = { ...operationLog(second, true), address: PAYEE }
    const logs = [
      // An event before `BeforeExecution` comes from the validation of the bundle, and belongs to no operation.
      transferLog({ logIndex: '0x0' }),
      { address: ENTRY_POINT, topics: [toEventSelector('event BeforeExecution()')], data: '0x' },
      transferLog({ logIndex: '0x1' }),
      forged,
      transferLog({ logIndex: '0x2' }),
      operationLog(first, true),
      operationLog(second, false),
      transferLog({ logIndex: '0x3' }),
    ]
    const receipt = parseReceipt(HASH, answer({ logs }))
    assert.deepEqual(
      receipt?.transfers.map(({ logIndex, operationHash }) => [logIndex, operationHash]),
      [
        [0n, null],
        [1n, first],
        [2n, first],
        [3n, null],
      ],
    )
    assert.deepEqual(receipt.operations, [
      { hash: first, sender: getAddress(PAYER), isSuccess: true },
      { hash: second, sender: getAddress(PAYER), isSuccess: false },
    ])
  })

  it('treats a missing receipt, and one without a block, as not mined', () => {
    assert.equal(parseReceipt(HASH, null), null)
    assert.equal(parseReceipt(HASH, answer({ blockNumber: null, blockHash: null })), null)
  })

  it('recognizes a reverted receipt', () => {
    assert.equal(parseReceipt(HASH, answer({ status: '0x0', logs: [] }))?.status, 'reverted')
  })

  it('leaves out everything that is not an ERC-20 transfer', () => {
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
