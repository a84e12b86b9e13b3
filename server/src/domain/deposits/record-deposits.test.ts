import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  listDeposits,
  listToldDeposits,
  makeTxHash,
  readCursor,
} from '../../../../test/support/context/deposit-rows.ts'
import { openConnections, readRows } from '../../../../test/support/database/read-rows.ts'
import { RECIPIENT, seed, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { LoggedTransfer } from '../../chain/transfer-log.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import type { Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'
import type { DepositCursor } from './deposit.ts'
import { cursorMove, recordDeposits } from './record-deposits.ts'
import { insertCursor } from './deposits-store.ts'

const HASHES = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`] as const
const FROM: DepositCursor = { blockNumber: 100n, blockHash: HASHES[0] }
const TO: DepositCursor = { blockNumber: 110n, blockHash: HASHES[1] }
const UINT256_MAX = 2n ** 256n - 1n

describe('recording deposits', () => {
  let given: TestContext
  let seeded: Seed
  before(async () => {
    given = await openTestContext()
    seeded = await seed(given.context)
  })
  beforeEach(async () => {
    await readRows(given.context.db, 'delete from deposit_cursors')
    await given.context.db.write(insertCursor('test', FROM))
  })
  after(() => given.close())

  test('a deposit is recorded with an event that contains it, and the cursor moves', async () => {
    const wallet = await openWallet()
    const transfer = transferTo(wallet)
    const [deposit] = (await record([transfer])) ?? []
    assert.deepEqual(await readCursor(given.context), TO)
    const events = await readRows(
      given.context.db,
      "select mode, type, created_at, data from events where workspace_id = $1 and data -> 'deposit' ->> 'wallet' = $2",
      [seeded.workspace.id, wallet],
    )
    const data = {
      deposit: {
        id: deposit?.id,
        wallet,
        from: RECIPIENT,
        amount_usdc: '1.5',
        tx_hash: transfer.txHash,
        block_number: 105,
        created_at: deposit?.createdAt.toISOString(),
      },
    }
    assert.deepEqual(events, [{ mode: 'test', type: 'inbound.received', created_at: deposit?.createdAt, data }])
  })

  const races: [string, DepositCursor][] = [
    ['the cursor lets one of them in', TO],
    ['all of them are let in, as after a reorganization', FROM],
  ]
  for (const [name, to] of races) {
    test(`20 concurrent calls in two processes record the same deposits once: ${name}`, async () => {
      const wallet = await openWallet()
      const transfers = [transferTo(wallet), transferTo(wallet)]
      const processes = [given.context, given.openAnother()] as const
      await openConnections(processes[0].db, processes[1].db)
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => record(transfers, { ctx: processes[index % 2 === 0 ? 0 : 1], to })),
      )
      assert.equal(answers.flatMap((deposits) => deposits ?? []).length, 2)
      assert.equal(answers.filter((deposits) => deposits === null).length, to === TO ? 19 : 0)
      const told = await listToldDeposits(given.context, wallet)
      assert.deepEqual(told.toSorted(), transfers.map(({ txHash }) => txHash).toSorted())
      assert.deepEqual(await readCursor(given.context), to)
    })
  }

  test('two transfers of one transaction to one wallet are two deposits, numbered in the order of their logs', async () => {
    const wallet = await openWallet()
    const [first, other, second] = [transferTo(wallet), transferTo(await openWallet()), transferTo(wallet)]
    const { txHash } = first
    await record([first, { ...other, txHash }, { ...second, txHash, amountMicro: microUsdc(7n) }])
    const deposits = await listDeposits(given.context, wallet)
    assert.deepEqual(
      deposits.map((row) => [row['position'], row['amount_micro']]),
      [
        [0, '1500000'],
        [1, '7'],
      ],
    )
    assert.deepEqual(await listToldDeposits(given.context, wallet), [txHash, txHash])
  })

  test('a transfer of zero is not a deposit, and does not change the positions of other deposits', async () => {
    const wallet = await openWallet()
    const [first, second] = [transferTo(wallet), transferTo(wallet)]
    await record([
      { ...first, amountMicro: microUsdc(0n) },
      { ...second, txHash: first.txHash },
    ])
    const [deposit, ...more] = await listDeposits(given.context, wallet)
    assert.deepEqual([deposit?.['position'], more.length], [1, 0])
  })

  test('a transfer from a wallet to itself moves nothing, so it is no deposit, and does not change other positions', async () => {
    const wallet = await openWallet()
    const [first, second] = [transferTo(wallet), transferTo(wallet)]
    await record([
      { ...first, from: wallet },
      { ...second, txHash: first.txHash },
    ])
    assert.deepEqual(
      (await listDeposits(given.context, wallet)).map((row) => row['position']),
      [1],
    )
    assert.deepEqual(await listToldDeposits(given.context, wallet), [first.txHash])
  })

  test('a transfer between two of our wallets is a deposit to the receiving wallet', async () => {
    const [payer, payee] = [await openWallet(), await openWallet()]
    await record([{ ...transferTo(payee), from: payer }])
    assert.deepEqual(
      [(await listDeposits(given.context, payer)).length, (await listDeposits(given.context, payee)).length],
      [0, 1],
    )
  })

  test('a transfer to another address, or to a wallet of the other mode, is not a deposit', async () => {
    const live = await seedWallet(given.context, { workspace: seeded.workspace, mode: 'live' })
    assert.deepEqual(await record([transferTo(RECIPIENT), transferTo(live)]), [])
    assert.deepEqual(await readCursor(given.context), TO)
  })

  test('the same transfer in another block and position is the same deposit', async () => {
    const wallet = await openWallet()
    const transfer = transferTo(wallet)
    await record([transfer], { to: FROM })
    const moved = { ...transfer, blockNumber: 107n, blockHash: HASHES[0], logIndex: 33n }
    assert.deepEqual(await record([moved]), [])
    assert.deepEqual(await listToldDeposits(given.context, wallet), [transfer.txHash])
  })

  test('an amount may be as large as a contract can report', async () => {
    const wallet = await openWallet()
    await record([{ ...transferTo(wallet), amountMicro: microUsdc(UINT256_MAX) }])
    assert.equal((await listDeposits(given.context, wallet))[0]?.['amount_micro'], String(UINT256_MAX))
  })

  test('too many deposits for one transaction are recorded in several, and the last one moves the cursor', async () => {
    const wallet = await openWallet()
    const transfers = Array.from({ length: 501 }, () => transferTo(wallet))
    assert.equal((await record(transfers))?.length, 501)
    assert.equal((await listToldDeposits(given.context, wallet)).length, 501)
    assert.deepEqual(await readCursor(given.context), TO)
  })

  test('a caller whose cursor is out of date records nothing', async () => {
    const wallet = await openWallet()
    await record([])
    assert.equal(await record([transferTo(wallet)]), null)
    assert.deepEqual(await listToldDeposits(given.context, wallet), [])
  })

  test('after a crash between deposit and event, neither is recorded and the cursor has not moved; the next call does both', async () => {
    const wallet = await openWallet()
    const transfer = transferTo(wallet)
    const crashing = await given.context.db.transaction(async (transaction) => {
      await transaction.run({ name: '', text: 'lock table events', values: [], read: () => null })
      const outcome = assert.rejects(record([transfer], { ctx: given.openAnother() }), DatabaseUnavailable)
      await waitFor('it is about to write its event', endWaiting)
      return { outcome }
    })
    await crashing.outcome
    assert.deepEqual(await listDeposits(given.context, wallet), [])
    assert.deepEqual(await listToldDeposits(given.context, wallet), [])
    assert.deepEqual(await readCursor(given.context), FROM)

    assert.equal((await record([transfer]))?.length, 1)
    assert.deepEqual(await listToldDeposits(given.context, wallet), [transfer.txHash])
  })

  /** Ends the database connection that waits for the lock on the events table, as if its process had died. */
  async function endWaiting(): Promise<boolean> {
    const ended = await readRows(
      given.context.db,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'insert into events%'`,
    )
    return ended.length > 0
  }

  function openWallet(): Promise<Address> {
    return seedWallet(given.context, seeded)
  }

  function record(
    transfers: readonly LoggedTransfer[],
    { ctx = given.context, to = TO }: { ctx?: Context; to?: DepositCursor } = {},
  ): ReturnType<typeof recordDeposits> {
    return recordDeposits(ctx, { mode: 'test', transfers, progress: cursorMove('test', { from: FROM, to }) })
  }

  function transferTo(to: Address): LoggedTransfer {
    return {
      contract: given.context.chains.test.usdc,
      from: RECIPIENT,
      to,
      amountMicro: microUsdc(1_500_000n),
      txHash: makeTxHash(),
      blockNumber: 105n,
      blockHash: HASHES[1],
      logIndex: 0n,
    }
  }
})
