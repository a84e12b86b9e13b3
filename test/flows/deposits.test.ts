import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  listDepositEvents,
  createPayer,
  makeWallet,
  pay,
  waitForDeposits,
  waitForRecord,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { MINED_CONFIRMATIONS, openMinedFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const CONFIRMATIONS = MINED_CONFIRMATIONS
/** More blocks than the service waits for, so blocks are replaced whose deposits it has reported. */
const REORGANIZED_BLOCKS = CONFIRMATIONS + 1
/**
 * The number of blocks that are mined after each deposit while the server is stopped. The service reads blocks in
 * chunks, and with so many blocks, the deposits are in several chunks.
 */
const GAP_BLOCKS = 600
/** After this time, the leases of a dead server have expired. */
const LEASES_SECONDS = 31

describe('deposits in the sandbox', () => {
  let fixture: SandboxFixture
  let payer: PayerFixture
  before(async () => {
    fixture = await openMinedFixture()
    payer = await createPayer(fixture, { plan: 'scale' })
    // This block funds the payer's wallet.
    await mine(1)
  })

  test('a transfer from the faucet is reported once, with the right values', async () => {
    const wallet = await makeWallet(fixture, payer)
    const txHash = await fund(wallet, '12.5')
    await mine(CONFIRMATIONS)
    const [deposit, ...more] = await waitForDeposits(fixture, wallet)
    assert.deepEqual(more, [])
    const [transfer] = await listChainTransfers(txHash)
    const { id, created_at: createdAt, from, ...told } = deposit ?? {}
    assert.match(String(id), /^dep_[0-9A-Z]{26}$/)
    assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT/)
    assert.match(String(from), /^0x[0-9a-fA-F]{40}$/)
    assert.deepEqual(told, { wallet, amount_usdc: '12.5', tx_hash: txHash, block_number: transfer?.blockNumber })
  })

  test('a payment between two of our wallets is a payment of one and a deposit to the other', async () => {
    const wallet = await makeWallet(fixture, payer)
    const { payment } = (await pay(fixture, payer, { to: wallet })).body
    await mine(CONFIRMATIONS)
    await waitForRecord(fixture, payment.id, 'confirmed')
    const [deposit] = await waitForDeposits(fixture, wallet)
    assert.deepEqual([deposit?.from, deposit?.amount_usdc, deposit?.tx_hash], [payer.wallet, '1', payment.tx_hash])
  })

  test('a deposit that was reported before a reorganization is not reported again when its new block is mined', async () => {
    const wallet = await makeWallet(fixture, payer)
    const txHash = await fund(wallet, '1')
    await mine(CONFIRMATIONS)
    const told = await waitForDeposits(fixture, wallet)
    const first = await listChainTransfers(txHash)
    await fixture.control('/chains/test', { reorg: REORGANIZED_BLOCKS })
    const fence = await makeWallet(fixture, payer)
    await fund(fence, '2')
    await mine(REORGANIZED_BLOCKS + CONFIRMATIONS)
    // The service reads blocks in order. Once it has reported this deposit, it has read all earlier blocks, including
    // those that replaced others.
    await waitForDeposits(fixture, fence)
    assert.deepEqual(await listDepositEvents(fixture, wallet), told)
    const second = await listChainTransfers(txHash)
    assert.equal(second.length, 1)
    assert.notDeepEqual(second, first)
  })

  test('a deposit whose block is replaced before it is deep enough is reported with its new block', async () => {
    const wallet = await makeWallet(fixture, payer)
    const txHash = await fund(wallet, '1')
    await mine(1)
    const first = await listChainTransfers(txHash)
    await fixture.control('/chains/test', { reorg: 1 })
    await mine(1)
    assert.deepEqual(await listDepositEvents(fixture, wallet), [])
    await mine(CONFIRMATIONS)
    const [deposit, ...more] = await waitForDeposits(fixture, wallet)
    assert.deepEqual(more, [])
    const [transfer] = await listChainTransfers(txHash)
    assert.notEqual(transfer?.blockNumber, first[0]?.blockNumber)
    assert.equal(deposit?.block_number, transfer?.blockNumber)
  })

  test('all deposits that were made while the server was stopped are reported after its start', async () => {
    const wallets = [await makeWallet(fixture, payer), await makeWallet(fixture, payer)] as const
    await fixture.sandbox.killServer('SIGKILL')
    const paid: string[] = []
    for (const wallet of [...wallets, ...wallets]) {
      paid.push(await fund(wallet, '3'))
      await mine(GAP_BLOCKS)
    }
    await fixture.sandbox.startServer()
    await fixture.advanceClock(LEASES_SECONDS)
    const told = [
      ...(await waitForDeposits(fixture, wallets[0], 2)),
      ...(await waitForDeposits(fixture, wallets[1], 2)),
    ]
    assert.deepEqual(told.map((deposit) => deposit.tx_hash).toSorted(), paid.toSorted())
  })

  async function fund(address: string, amount: string): Promise<string> {
    const answer = await fixture.control('/faucet', { mode: 'test', address, amount_usdc: amount })
    return String((answer.body as { tx_hash?: string }).tx_hash)
  }

  async function mine(blocks: number): Promise<void> {
    await fixture.control('/chains/test', { mine: blocks })
  }

  /** Returns the transfers of a transaction, with the block that contains them now. */
  async function listChainTransfers(txHash: string): Promise<{ blockNumber: number; blockHash: string }[]> {
    const receipt = await fixture.chains.test.call('eth_getTransactionReceipt', [txHash])
    const { logs } = receipt as { logs: { blockNumber: string; blockHash: string }[] }
    return logs.map(({ blockNumber, blockHash }) => ({ blockNumber: Number(blockNumber), blockHash }))
  }
})
