import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runFaults } from '../support/faults/run-faults.ts'
import { prepareSandbox } from '../support/sandbox/prepared-sandbox.ts'

const PAYMENTS = 150

test('payments under random faults of the provider: each transfer on the chain belongs to one confirmed payment within the caps', async () => {
  const run = await runFaults({
    payments: PAYMENTS,
    share: 0.2,
    seed: 7,
    wallets: 4,
    agentsPerWallet: 2,
    callers: 40,
    keys: 20,
    waves: 1,
    isHurried: true,
    sandbox: { prepared: await prepareSandbox(), memory: 'large' },
  })
  assert.deepEqual(run.violations, [])
  assert.equal(run.evidence.payments.length, run.report.recorded)
  // Checks that the run tested enough: many transfers were made, and many sends had faults.
  assert.ok(run.evidence.transfers.length > PAYMENTS / 2, `${run.evidence.transfers.length} transfers landed`)
  assert.ok(Object.values(run.faults).reduce((sum, count) => sum + count, 0) > PAYMENTS / 10)
  assert.ok((run.report.refusals.get('daily_cap_exceeded') ?? 0) > 0)
})
