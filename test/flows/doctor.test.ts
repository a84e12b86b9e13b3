import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { makeParty, pay, waitForRecord } from '../support/party.ts'
import { runProgram } from '../support/run-program.ts'
import { openWorld, type World } from '../support/world.ts'

const DOCTOR = 'server/src/doctor/main.ts'

describe('npm run doctor, beside a running sandbox', () => {
  let world: World
  before(async () => {
    world = await openWorld()
  })
  after(() => world.close())

  test('finds nothing wrong, and everything well once payments were confirmed', async () => {
    const first = await runProgram(DOCTOR, { env: world.environment() })
    assert.equal(first.exitCode, 0, first.output)
    for (const mode of ['test', 'live'] as const) {
      assert.match(first.output, new RegExp(`^warn  ${mode} gas: sponsored, and no payment was confirmed yet`, 'm'))
      const party = await makeParty(world, { mode })
      const { body } = await pay(world, party)
      await waitForRecord(world, body.payment.id, 'confirmed')
    }
    const { exitCode, output } = await runProgram(DOCTOR, { env: world.environment() })
    assert.equal(exitCode, 0)
    const lines = output.trimEnd().split('\n')
    assert.deepEqual(
      lines.filter((line) => !line.startsWith('ok    ')),
      [],
    )
    assert.ok(lines.length > 15)
  })

  test('fails where a setting is wrong, and never prints a secret', async () => {
    const { exitCode, output } = await runProgram(DOCTOR, {
      env: { ...world.environment(), PRIVY_APP_SECRET: 'WRONG-SECRET', TEST_CHAIN_ID: '1' },
    })
    assert.equal(exitCode, 1)
    assert.match(output, /^fail {2}enclave \(127\.0\.0\.1:\d+\): it refuses the credentials \(401\)$/m)
    assert.match(output, /^fail {2}test chain, node 1 \(127\.0\.0\.1\): chain 84532, not 1$/m)
    assert.ok(!output.includes('WRONG-SECRET'))
  })

  test('fails where a setting is missing, and names it', async () => {
    const { exitCode, output } = await runProgram(DOCTOR, { env: { ...world.environment(), LIVE_RPC_URLS: '' } })
    assert.equal(exitCode, 1)
    assert.match(output, /^fail {2}configuration: .*missing: LIVE_RPC_URLS/)
  })
})
