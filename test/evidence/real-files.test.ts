import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../server/src/config.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { call } from '../support/http-client.ts'
import { backUpDatabase } from '../support/restore/database-backup.ts'
import { openSandboxFixture, type OwnSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { exportFiles, makePayments, passFence, type ProvenPayments } from './proven-payments.ts'
import { openVerifiers, type Verifiers } from './verifiers.ts'
import type { Given } from './python-verifier.ts'

describe('the evidence of payments in the sandbox', () => {
  let fixture: OwnSandboxFixture
  let verifiers: Verifiers
  let payments: ProvenPayments
  let files: ReadonlyMap<string, string>
  let given: Given
  before(async () => {
    fixture = await openSandboxFixture()
    verifiers = openVerifiers()
    const opened = openContext(readConfig(fixture.environment()), {
      clock: createClock(),
      logger: createLogger('silent'),
    })
    try {
      payments = await makePayments(fixture, opened.context)
    } finally {
      await opened.close()
    }
    await passFence(fixture, payments)
    files = await exportFiles(fixture, payments)
    const { text } = await call(fixture.baseUrl, 'GET', '/.well-known/bursar-log.json', {})
    const { verifier_key: logKey } = JSON.parse(text) as { verifier_key: string }
    const { rpc_url: rpc } = fixture.sandbox.facts.chains.test
    given = { ownerKeys: [payments.owned.owner.publicKeySpki], logKeys: [logKey], rpc }
  })
  after(async () => {
    await verifiers.close()
    await fixture.close()
  })

  async function verifyAll(exported: ReadonlyMap<string, string>): Promise<void> {
    assert.equal(exported.size, payments.ids.size)
    for (const [name, file] of exported) {
      const verdict = await verifiers.verify(file, given)
      const payment = payments.ids.get(name)
      const yes = { owner_signed: 'yes', within_limits: 'yes', on_chain: 'yes' }
      assert.deepEqual(verdict, { valid: true, payment, ...yes }, name)
    }
  }

  test('both verifiers answer yes to all three questions about each of them', async () => {
    await verifyAll(files)
  })
})
