import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { runProgram } from '../support/sandbox/run-program.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const CHECK = 'server/src/provider-check/main.ts'
const STEPS = 15

describe('npm run provider:check, against the local enclave', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openSharedSandboxFixture()
  })

  async function check(args: readonly string[], change: Readonly<Record<string, string>> = {}) {
    const env = { ...fixture.environment(), ...change }
    const { exitCode, output } = await runProgram(CHECK, { args, env })
    for (const secret of [env['PRIVY_APP_SECRET'], env['ENCRYPTION_KEY'], 'webauthn:', 'Basic ']) {
      assert.ok(secret !== undefined && !output.includes(secret), output)
    }
    const verdicts = [...output.matchAll(/^(same|differs|skipped) +(\d+)\. /gm)].map(([, verdict]) => verdict)
    return { exitCode, output, verdicts }
  }

  test('every call has the expected result', async () => {
    const { exitCode, output, verdicts } = await check(['--faucet', '--wait-minutes', '1'])
    assert.deepEqual(verdicts, Array<string>(STEPS).fill('same'), output)
    assert.equal(exitCode, 0)
    assert.match(output, /^ +expected: .+\n +actual: {3}.+$/m)
  })

  test('if nobody funds the wallet, only the steps with transfers are skipped, and the address to fund is printed', async () => {
    const { exitCode, output, verdicts } = await check(['--wait-minutes', '0'])
    assert.match(output, /^Send at least 0\.000006 test USDC .* on chain 84532 to 0x[0-9a-fA-F]{40}\.$/m)
    assert.match(output, /^0x[0-9a-fA-F]{40} holds too little USDC on chain 84532/m)
    assert.deepEqual(verdicts.slice(0, 8), [
      ...['same', 'same', 'skipped', 'skipped', 'skipped', 'same', 'same', 'same'],
    ])
    assert.deepEqual(verdicts.slice(9), ['skipped', 'same', 'same', 'same', 'same', 'skipped'])
    assert.equal(exitCode, 1)
  })

  test('the owners may be returned with their keys in another form', async () => {
    await fixture.control('/enclave/faults', { fault: 'keys_as_pem', count: 1 })
    const { output } = await check(['--wait-minutes', '0'])
    assert.match(output, /^same +14\. .*\n.*\n +actual: .*read back: both keys, in another form;/m)
  })

  test('with wrong credentials it reports that, and skips what it cannot try', async () => {
    const { exitCode, output, verdicts } = await check(['--faucet'], { PRIVY_APP_SECRET: 'WRONG-SECRET' })
    assert.match(output, /^differs +1\. .*\n.*\n +actual: +401 "Invalid app ID or app secret\."$/m)
    assert.deepEqual(verdicts, [
      ...['differs', 'skipped', 'skipped', 'skipped', 'skipped', 'skipped', 'skipped', 'differs', 'skipped', 'skipped'],
      ...['skipped', 'skipped', 'skipped', 'skipped', 'skipped'],
    ])
    assert.equal(exitCode, 1)
  })

  test('it refuses to run where USDC is real money, or if the node is on another chain', async () => {
    const live = await check(['--faucet'], { TEST_CHAIN_ID: '8453' })
    assert.match(live.output, /^Refused: chain 8453 is not a known test chain\./)
    const other = await check(['--faucet'], { TEST_CHAIN_ID: '11155111' })
    assert.match(other.output, /^Refused: the first node of TEST_RPC_URLS is on chain 84532, not on 11155111\./)
    const mixed = await check(['--faucet'], { TEST_RPC_URLS: fixture.environment()['LIVE_RPC_URLS'] ?? '' })
    assert.match(mixed.output, /^Refused: the first node of TEST_RPC_URLS is on chain 8453, not on 84532\./)
    assert.deepEqual(
      [live, other, mixed].map(({ exitCode, verdicts }) => [exitCode, verdicts.length]),
      [
        [1, 0],
        [1, 0],
        [1, 0],
      ],
    )
  })

  test('unknown arguments print the usage', async () => {
    for (const args of [['--live'], ['--wait-minutes', 'long']]) {
      const { exitCode, output } = await check(args)
      assert.match(output, /npm run provider:check -- \[--faucet\]/)
      assert.equal(exitCode, 1)
    }
  })
})
