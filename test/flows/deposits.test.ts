import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  listDepositEvents,
  makeParty,
  makeWallet,
  pay,
  waitForDeposits,
  waitForRecord,
  type Party,
} from '../support/party.ts'
import { openWorld, type World } from '../support/world.ts'

const CONFIRMATIONS = 2
const REORGANIZED_BLOCKS = 3
/** So that what is paid in a gap lies in several chunks of blocks. */
const GAP_BLOCKS = 600
/** The leases of a dead server have run out by then. */
const LEASES_SECONDS = 31

describe('deposits in the sandbox', () => {
  let world: World
  let party: Party
  before(async () => {
    world = await openWorld({ serverEnv: () => ({ TEST_CONFIRMATIONS: String(CONFIRMATIONS) }) })
    party = await makeParty(world, { plan: 'scale' })
    await world.control('/chains/test', { mining: false })
  })
  after(() => world.close())

  test('what the faucet pays is told once, as it is', async () => {
    const wallet = await makeWallet(world, party)
    const txHash = await fund(wallet, '12.5')
    await mine(CONFIRMATIONS)
    const [deposit, ...more] = await waitForDeposits(world, wallet)
    assert.deepEqual(more, [])
    const [transfer] = await listChainTransfers(txHash)
    const { id, created_at: createdAt, from, ...told } = deposit ?? {}
    assert.match(String(id), /^dep_[0-9A-Z]{26}$/)
    assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT/)
    assert.match(String(from), /^0x[0-9a-fA-F]{40}$/)
    assert.deepEqual(told, { wallet, amount_usdc: '12.5', tx_hash: txHash, block_number: transfer?.blockNumber })
  })

  test('a payment from one of our wallets to another is a payment of one and a deposit of the other', async () => {
    const wallet = await makeWallet(world, party)
    const { payment } = (await pay(world, party, { to: wallet })).body
    await mine(CONFIRMATIONS)
    await waitForRecord(world, payment.id, 'confirmed')
    const [deposit] = await waitForDeposits(world, wallet)
    assert.deepEqual([deposit?.from, deposit?.amount_usdc, deposit?.tx_hash], [party.wallet, '1', payment.tx_hash])
  })

  test('blocks that are taken back after a deposit was told, and bring it again, tell it no second time', async () => {
    const wallet = await makeWallet(world, party)
    const txHash = await fund(wallet, '1')
    await mine(CONFIRMATIONS)
    const told = await waitForDeposits(world, wallet)
    const first = await listChainTransfers(txHash)
    await world.control('/chains/test', { reorg: REORGANIZED_BLOCKS })
    const fence = await makeWallet(world, party)
    await fund(fence, '2')
    await mine(REORGANIZED_BLOCKS + CONFIRMATIONS)
    // Whatever lies in the new blocks below has been read when this one is told.
    await waitForDeposits(world, fence)
    assert.deepEqual(await listDepositEvents(world, wallet), told)
    const second = await listChainTransfers(txHash)
    assert.equal(second.length, 1)
    assert.notDeepEqual(second, first)
  })

  test('a deposit whose block is taken back before it is deep enough is told where it comes to stand', async () => {
    const wallet = await makeWallet(world, party)
    const txHash = await fund(wallet, '1')
    await mine(1)
    const first = await listChainTransfers(txHash)
    await world.control('/chains/test', { reorg: 1 })
    await mine(1)
    assert.deepEqual(await listDepositEvents(world, wallet), [])
    await mine(CONFIRMATIONS)
    const [deposit, ...more] = await waitForDeposits(world, wallet)
    assert.deepEqual(more, [])
    const [transfer] = await listChainTransfers(txHash)
    assert.notEqual(transfer?.blockNumber, first[0]?.blockNumber)
    assert.equal(deposit?.block_number, transfer?.blockNumber)
  })

  test('everything that was paid while the server was dead, in blocks far apart, is told after its start', async () => {
    const wallets = [await makeWallet(world, party), await makeWallet(world, party)] as const
    await world.sandbox.killServer('SIGKILL')
    const paid: string[] = []
    for (const wallet of [...wallets, ...wallets]) {
      paid.push(await fund(wallet, '3'))
      await mine(GAP_BLOCKS)
    }
    await world.sandbox.startServer()
    await world.advanceClock(LEASES_SECONDS)
    const told = [...(await waitForDeposits(world, wallets[0], 2)), ...(await waitForDeposits(world, wallets[1], 2))]
    assert.deepEqual(told.map((deposit) => deposit.tx_hash).toSorted(), paid.toSorted())
  })

  async function fund(address: string, amount: string): Promise<string> {
    const answer = await world.control('/faucet', { mode: 'test', address, amount_usdc: amount })
    return String((answer.body as { tx_hash?: string }).tx_hash)
  }

  async function mine(blocks: number): Promise<void> {
    await world.control('/chains/test', { mine: blocks })
  }

  /** The logs of a transaction, where it stands now. */
  async function listChainTransfers(txHash: string): Promise<{ blockNumber: number; blockHash: string }[]> {
    const receipt = await world.chains.test.call('eth_getTransactionReceipt', [txHash])
    const { logs } = receipt as { logs: { blockNumber: string; blockHash: string }[] }
    return logs.map(({ blockNumber, blockHash }) => ({ blockNumber: Number(blockNumber), blockHash }))
  }
})
