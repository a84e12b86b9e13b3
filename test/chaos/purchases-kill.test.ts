import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runPurchases } from '../support/faults/run-purchases.ts'
import { prepareSandbox } from '../support/sandbox/prepared-sandbox.ts'

const PURCHASES = 40

for (const servers of [1, 2] as const) {
  test(`purchases with faults of the seller, and kills of a server (servers: ${servers}): each is paid once at most`, async () => {
    const run = await runPurchases({
      ...{ purchases: PURCHASES, kills: 2, servers, seed: 7, payers: 4, lanesPerPayer: 3 },
      sandbox: { prepared: await prepareSandbox(), memory: 'large' },
    })
    assert.deepEqual(run.violations, [])
    // Checks that the run tested enough.
    assert.equal(run.kills, 2)
    assert.ok(run.looks > 0)
    assert.ok(run.transfers > PURCHASES / 4, `${run.transfers} transfers`)
    assert.ok(run.refused > 0)
    assert.ok((run.outcomes['failed authorization_expired'] ?? 0) > 0, JSON.stringify(run.outcomes))
  })
}
