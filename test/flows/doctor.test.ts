import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { createPayer, pay, waitForRecord } from '../support/sandbox/payer-fixture.ts'
import { runProgram } from '../support/sandbox/run-program.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const DOCTOR = 'server/src/doctor/main.ts'

describe('npm run doctor, next to a running sandbox', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openSharedSandboxFixture()
    // The sandbox starts with blocks that may be older than the doctor accepts.
    for (const mode of ['test', 'live']) await fixture.control(`/chains/${mode}`, { mine: 1 })
  })

  test('finds no fault, and reports that all is well once payments were confirmed', async () => {
    const first = await runProgram(DOCTOR, { env: fixture.environment() })
    assert.equal(first.exitCode, 0, first.output)
    for (const mode of ['test', 'live'] as const) {
      assert.match(first.output, new RegExp(`^warn  ${mode} gas: sponsored, but no payment was confirmed yet`, 'm'))
      const payer = await createPayer(fixture, { mode })
      const { body } = await pay(fixture, payer)
      await waitForRecord(fixture, body.payment.id, 'confirmed')
    }
    const { exitCode, output } = await runProgram(DOCTOR, { env: fixture.environment() })
    assert.equal(exitCode, 0)
    const lines = output.trimEnd().split('\n')
    assert.deepEqual(
      lines.filter((line) => !line.startsWith('ok    ')),
      [],
    )
    assert.ok(lines.length > 15)
  })

  test('fails if a setting is wrong, and never prints a secret', async () => {
    const { exitCode, output } = await runProgram(DOCTOR, {
      env: { ...fixture.environment(), PRIVY_APP_SECRET: 'WRONG-SECRET', TEST_CHAIN_ID: '1' },
    })
    assert.equal(exitCode, 1)
    assert.match(output, /^fail {2}enclave \(127\.0\.0\.1:\d+\): it rejects the credentials \(401\)$/m)
    assert.match(output, /^fail {2}test chain, node 1 \(127\.0\.0\.1\): chain 84532, not 1$/m)
    assert.ok(!output.includes('WRONG-SECRET'))
  })

  test('fails if a setting is missing, and names it', async () => {
    const { exitCode, output } = await runProgram(DOCTOR, { env: { ...fixture.environment(), LIVE_RPC_URLS: '' } })
    assert.equal(exitCode, 1)
    assert.match(output, /^fail {2}configuration: .*missing: LIVE_RPC_URLS/)
  })
})
