import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { readBody } from '../support/http-client.ts'
import type { Hold } from '../support/wires/enclave-proxy.ts'
import {
  createPayer,
  listPaymentEvents,
  makeAddress,
  waitForRecord,
  type PayerFixture,
} from '../support/sandbox/payer-fixture.ts'
import { openGatedFixture, type GatedFixture } from '../support/sandbox/sandbox-fixture.ts'
import {
  openWithdrawer,
  type WirePaymentRow,
  type WireWithdrawal,
  type WithdrawerFixture,
} from '../support/sandbox/withdrawer-fixture.ts'

/** After this time, the leases of a dead server have expired, and its attempts to withdraw are over. */
const LEASES_SECONDS = 31
/** After this time, the enclave rejects a withdrawal that was signed earlier, because its request has expired. */
const FENCE_SECONDS = 5 * 60 + 10
const AMOUNT_MICRO = 2_500_000n

interface Step {
  readonly name: string
  /** Whether the withdrawal had been recorded before the server died. */
  readonly isRecorded: boolean
  /** Whether the enclave signed before the server died. */
  readonly isSigned: boolean
  readonly hold: (fixture: GatedFixture) => Pick<Hold, 'held'> & Partial<Hold>
}

const STEPS: readonly Step[] = [
  {
    name: 'before the withdrawal is recorded',
    isRecorded: false,
    isSigned: false,
    hold: ({ database }) => database.hold('insert_payments', 'request'),
  },
  {
    name: 'when it is recorded, before the enclave has the request',
    isRecorded: true,
    isSigned: false,
    hold: ({ enclave }) => enclave.hold('request'),
  },
  {
    name: 'when the enclave has signed, before its answer comes',
    isRecorded: true,
    isSigned: true,
    hold: ({ enclave }) => enclave.hold('answer'),
  },
  {
    name: "when the enclave's answer is there, before it is written",
    isRecorded: true,
    isSigned: true,
    hold: ({ database }) => database.hold('mark_free_payments_accepted', 'request'),
  },
  {
    name: 'when it is written, before the HTTP answer goes out',
    isRecorded: true,
    isSigned: true,
    hold: ({ database }) => database.hold('mark_free_payments_accepted', 'answer'),
  },
]

describe('a server that is killed in the middle of a withdrawal', () => {
  let fixture: GatedFixture
  before(async () => {
    fixture = await openGatedFixture()
  })

  for (const step of STEPS) {
    test(`${step.name}: the record becomes true, and the money leaves at most once`, async () => {
      const { payer, withdrawer, issued, id, signatures, hold } = await killDuringWithdrawal(step)
      assert.deepEqual(signatures, step.isRecorded ? [id] : [], 'a signature that has an effect is kept, and no other')
      if (!step.isRecorded) {
        assert.equal(id, null)
        // The service has recorded nothing, so it still accepts the same signature.
        const { payment } = readBody<{ payment: WirePaymentRow }>(await withdrawer.sign(issued), 200)
        await waitForRecord(fixture, payment.id, 'confirmed')
        assert.equal((await listTransfers(payer)).length, 1)
        return
      }
      assert.ok(id !== null, 'the withdrawal is committed')
      const again = readBody<{ payment: WirePaymentRow }>(await withdrawer.sign(issued), 200)
      assert.equal(again.payment.id, id, 'the same request leads to the same withdrawal')
      await fixture.advanceClock(step.isSigned ? LEASES_SECONDS : FENCE_SECONDS)
      if (step.isSigned) {
        await waitForRecord(fixture, id, 'confirmed')
        await hold.release?.()
        const [row] = await fixture.query('select tx_hash from payments where id = $1', [id])
        assert.deepEqual(await listTransfers(payer), [{ txHash: row?.['tx_hash'], amountMicro: AMOUNT_MICRO }])
      } else {
        // The service treats the transfer as absent only once the signed request has expired by the chain's clock too.
        await fixture.chains.test.call('evm_increaseTime', [FENCE_SECONDS])
        await fixture.control('/chains/test', { mine: 1 })
        await waitForRecord(fixture, id, 'failed')
        const [row] = await fixture.query('select failure_code, attempt from payments where id = $1', [id])
        assert.deepEqual([row?.['failure_code'], row?.['attempt']], ['never_received', 1])
        // The dead server's request arrives only now.
        assert.ok(((await hold.release?.()) ?? 0) >= 400, 'the enclave took a request that had expired')
        assert.deepEqual(await listTransfers(payer), [])
      }
      assert.deepEqual(await listPaymentEvents(fixture, id), [])
      const rows = await fixture.query('select action from audit_entries where subject = $1 order by id', [id])
      assert.deepEqual(
        rows.map(({ action }) => action),
        ['withdrawal.requested', 'withdrawal.submitted', `withdrawal.${step.isSigned ? 'confirmed' : 'failed'}`],
      )
    })
  }

  async function killDuringWithdrawal(step: Step): Promise<{
    payer: PayerFixture
    withdrawer: WithdrawerFixture
    issued: WireWithdrawal
    id: string | null
    /** The withdrawals whose signatures are stored. */
    signatures: readonly unknown[]
    hold: ReturnType<Step['hold']>
  }> {
    const payer = await createPayer(fixture)
    const withdrawer = await openWithdrawer(fixture, payer)
    const issued = await withdrawer.issue({ to: makeAddress(), amount_usdc: '2.50' })
    const hold = step.hold(fixture)
    const lost = assert.rejects(withdrawer.sign(issued))
    await hold.held
    await fixture.sandbox.killServer('SIGKILL')
    await lost
    const rows = await fixture.query('select id from payments where wallet_address = $1', [payer.wallet])
    const kept = await fixture.query(
      `select subject from owner_signatures join owner_requests using (workspace_id)
        where owner_signatures.kind = 'withdrawal' and owner_requests.id = $1`,
      [issued.request_id],
    )
    await fixture.sandbox.startServer()
    const id = rows[0] === undefined ? null : String(rows[0]['id'])
    return { payer, withdrawer, issued, hold, id, signatures: kept.map(({ subject }) => subject) }
  }

  async function listTransfers(payer: PayerFixture) {
    const transfers = await fixture.chains.test.listTransfers(payer.wallet)
    return transfers.map(({ txHash, amountMicro }) => ({ txHash, amountMicro }))
  }
})
