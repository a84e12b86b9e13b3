import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import {
  listDepositEvents,
  listPaymentEvents,
  createPayer,
  makeWallet,
  pay,
  readPayment,
  waitForDeposits,
  waitForRecord,
} from '../support/sandbox/payer-fixture.ts'
import { waitFor } from '../support/wait-for.ts'
import { MINED_CONFIRMATIONS, openMinedFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const CONFIRMATIONS = MINED_CONFIRMATIONS

describe('a chain that replaces blocks', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openMinedFixture()
  })

  test('a payment stays pending until its block is deep enough, and is then confirmed', async () => {
    const payer = await createPayer(fixture)
    await mine(1)
    const { payment } = (await pay(fixture, payer)).body
    await mine(CONFIRMATIONS - 1)
    await waitFor('its block is noted', () => minedBlock(payment.id))
    assert.equal((await readPayment(fixture, payer, payment.id)).status, 'pending')
    await mine(1)
    await waitForRecord(fixture, payment.id, 'confirmed')
  })

  test('a payment whose block is replaced waits again, and is confirmed once', async () => {
    const payer = await createPayer(fixture)
    await mine(1)
    const { payment } = (await pay(fixture, payer)).body
    await mine(1)
    const first = await waitFor('its block is noted', () => minedBlock(payment.id))
    await fixture.control('/chains/test', { reorg: 1 })
    await waitFor('its block is forgotten', async () => (await minedBlock(payment.id)) === null)
    assert.equal((await readPayment(fixture, payer, payment.id)).status, 'pending')

    await mine(1)
    const second = await waitFor('its block is noted anew', () => minedBlock(payment.id))
    assert.notEqual(second.hash, first.hash)
    await mine(CONFIRMATIONS - 1)
    await waitForRecord(fixture, payment.id, 'confirmed')
    const settled = await readPayment(fixture, payer, payment.id)
    const { confirmed_at } = settled
    assert.equal(typeof confirmed_at, 'string')
    assert.deepEqual(settled, { ...payment, status: 'confirmed', confirmed_at })
    assert.deepEqual(await listPaymentEvents(fixture, payment.id), ['payment.created', 'payment.confirmed'])
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual(
      transfers.map(({ txHash }) => txHash),
      [payment.tx_hash],
    )
  })

  test('events that were sent before a reorganization are not sent again when the new blocks are mined', async () => {
    const payer = await createPayer(fixture)
    const wallet = await makeWallet(fixture, payer)
    await mine(1)
    const { payment } = (await pay(fixture, payer, { to: wallet })).body
    await mine(CONFIRMATIONS)
    await waitForRecord(fixture, payment.id, 'confirmed')
    const told = await waitForDeposits(fixture, wallet)
    const first = await fixture.chains.test.listTransfers(payer.wallet)
    await fixture.control('/chains/test', { reorg: CONFIRMATIONS })
    assert.deepEqual(await fixture.chains.test.listTransfers(payer.wallet), [])

    const fence = await makeWallet(fixture, payer)
    await fixture.control('/faucet', { mode: 'test', address: fence, amount_usdc: '1' })
    await mine(2 * CONFIRMATIONS)
    // This deposit is in the same block as the payment, or in a later one. A service that has reported the deposit has
    // also read the payment's new block.
    await waitForDeposits(fixture, fence)
    const second = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual([first.length, second.length], [1, 1])
    assert.equal(second[0]?.txHash, payment.tx_hash)
    assert.notEqual(second[0]?.blockNumber, first[0]?.blockNumber)
    assert.deepEqual(await listDepositEvents(fixture, wallet), told)
    assert.deepEqual(
      told.map((deposit) => deposit.tx_hash),
      [payment.tx_hash],
    )
    const { status, tx_hash } = await readPayment(fixture, payer, payment.id)
    assert.deepEqual({ status, tx_hash }, { status: 'confirmed', tx_hash: payment.tx_hash })
    assert.deepEqual(await listPaymentEvents(fixture, payment.id), ['payment.created', 'payment.confirmed'])
  })

  test('when ten readers and the watcher find a confirmation at once, it is reported once', async () => {
    const payer = await createPayer(fixture)
    await mine(1)
    const { payment } = (await pay(fixture, payer)).body
    await mine(CONFIRMATIONS)
    const read = await Promise.all(Array.from({ length: 10 }, () => readPayment(fixture, payer, payment.id)))
    assert.deepEqual([...new Set(read.map(({ status }) => status))], ['confirmed'])
    assert.deepEqual(await listPaymentEvents(fixture, payment.id), ['payment.created', 'payment.confirmed'])
  })

  async function mine(blocks: number): Promise<void> {
    await fixture.control('/chains/test', { mine: blocks })
  }

  async function minedBlock(id: string): Promise<{ hash: string } | null> {
    const rows = await fixture.query('select mined_block_hash from payments where id = $1', [id])
    const hash: unknown = rows[0]?.['mined_block_hash']
    return typeof hash === 'string' ? { hash } : null
  }
})
