import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { readBody } from '../support/http-client.ts'
import {
  createPayer,
  makeAddress,
  makeWallet,
  pay,
  readAgent,
  waitForDeposits,
  waitForRecord,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { openWithdrawer, type WirePaymentRow, type WithdrawerFixture } from '../support/sandbox/withdrawer-fixture.ts'
import { waitFor } from '../support/wait-for.ts'

/** How many withdrawals and payments together race for one wallet's balance. Half of them are withdrawals. */
const RACERS = 50
/** How many USDC the wallet has. Each withdrawal and each payment moves one USDC. */
const FUNDED = 20

describe('withdrawals, with the enclave and the chains of the sandbox', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openSharedSandboxFixture()
  })

  test('an owner withdraws everything to another wallet, where it arrives as a deposit', async () => {
    const { payer, withdrawer } = await open({ mode: 'live', fundUsdc: '12.345678' })
    const to = await makeWallet(fixture, payer)
    const issued = await withdrawer.issue({ to, amount_usdc: null })
    assert.deepEqual([issued.amount_usdc, issued.balance_usdc, issued.pending_usdc], ['12.345678', '12.345678', '0'])
    const { payment } = readBody<{ payment: WirePaymentRow }>(await withdrawer.sign(issued), 200)
    assert.deepEqual(
      [payment.kind, payment.agent_id, payment['grant_id'], payment['amount_usdc'], payment['to']],
      ['withdrawal', null, null, '12.345678', to],
    )
    await waitForRecord(fixture, payment.id, 'confirmed')
    const [deposit] = await waitForDeposits(fixture, to)
    assert.deepEqual([deposit?.amount_usdc, deposit?.from], ['12.345678', payer.wallet])
    assert.equal(await fixture.chains.live.balanceOf(payer.wallet), 0n)
    assert.equal((await readAgent(fixture, payer)).wallets[0]?.['remaining_24h_usdc'], '100')
  })

  test(`of ${RACERS} withdrawals and payments at once, no more leaves a wallet than it has, and each record is true`, async () => {
    const { payer, withdrawer } = await open({ fundUsdc: String(FUNDED), dailyCapUsdc: '100' })
    const withdrawals = await Promise.all(
      Array.from({ length: RACERS / 2 }, async () => {
        const to = makeAddress()
        return { to, issued: await withdrawer.issue({ to, amount_usdc: '1' }) }
      }),
    )
    const sign = ({ issued }: (typeof withdrawals)[number]): ReturnType<typeof withdrawer.sign> =>
      withdrawer.sign(issued)
    const payOne = (): ReturnType<typeof pay> => pay(fixture, payer, { to: makeAddress(), amount_usdc: '1' })
    // In the race, the service could accept only withdrawals, or only payments. So that the test has one of each, it
    // makes one withdrawal and one payment before the race.
    const [first, ...others] = withdrawals
    assert.ok(first)
    const accepted = [await sign(first), await payOne()]
    const answers = accepted.concat(await Promise.all(others.flatMap((other) => [sign(other), payOne()])))
    // On a machine that is very busy, a payment may wait too long for its turn. Then nothing is recorded for it.
    assert.ok(
      answers.every(({ status }) => [200, 201, 403, 503].includes(status)),
      String(answers.map(({ status }) => status)),
    )
    const made = answers.filter(({ status }) => status < 300).length
    assert.ok(made > 0 && made <= FUNDED, answers.map(({ text }) => text).join('\n'))
    await waitFor('every record is settled', async () => {
      const open = "select 1 from payments where wallet_address = $1 and status = 'pending'"
      return (await fixture.query(open, [payer.wallet])).length === 0
    })
    const records = await fixture.query(
      'select kind, status, tx_hash, to_address, amount_micro from payments where wallet_address = $1 order by to_address',
      [payer.wallet],
    )
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    assert.deepEqual(
      transfers.map(({ to, txHash, amountMicro }) => [to, txHash, amountMicro]).toSorted(byText),
      records
        .map((row) => [String(row['to_address']).toLowerCase(), row['tx_hash'], BigInt(String(row['amount_micro']))])
        .toSorted(byText),
    )
    assert.equal(records.length, made)
    assert.ok(records.every(({ status }) => status === 'confirmed'))
    assert.deepEqual(new Set(records.map(({ kind }) => kind)), new Set(['transfer', 'withdrawal']))
    assert.equal(await fixture.chains.test.balanceOf(payer.wallet), BigInt(FUNDED - made) * 1_000_000n)
  })

  test('a signature over anything but the recorded withdrawal is rejected', async () => {
    const { payer, withdrawer } = await open()
    const issued = await withdrawer.issue({ to: makeAddress(), amount_usdc: '1' })
    // As if somebody had changed the record after the owner saw it.
    await fixture.query(`update owner_requests set details = details || '{"amount_micro": "2000000"}' where id = $1`, [
      issued.request_id,
    ])
    const answer = await withdrawer.sign(issued)
    assert.equal(answer.status, 409, answer.text)
    assert.deepEqual(await fixture.chains.test.listTransfers(payer.wallet), [])
  })

  async function open(
    options: Parameters<typeof createPayer>[1] = {},
  ): Promise<{ payer: PayerFixture; withdrawer: WithdrawerFixture }> {
    const payer = await createPayer(fixture, options)
    return { payer, withdrawer: await openWithdrawer(fixture, payer) }
  }
})

function byText(left: unknown, right: unknown): number {
  return String(left) < String(right) ? -1 : 1
}
