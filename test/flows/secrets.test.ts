import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { createApiKeySecret } from '../../server/src/values/api-key.ts'
import { call } from '../support/http-client.ts'
import { createPayer, pay } from '../support/sandbox/payer-fixture.ts'
import { openTracedFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

describe('secrets', () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openTracedFixture()
  })

  test('no log line at any level contains a key, signature or password, whatever goes wrong', async () => {
    const payer = await createPayer(fixture)
    const unknown = createApiKeySecret('test')
    await pay(fixture, payer, { idempotency_key: 'one' })
    for (const fault of ['reject', 'unavailable', 'lost_response']) {
      await fixture.control('/enclave/faults', { fault, count: 1 })
      await pay(fixture, payer, { idempotency_key: fault })
    }
    await call(fixture.baseUrl, 'GET', '/v1/me', { key: unknown })
    await call(fixture.baseUrl, 'POST', '/v1/payments', { key: payer.key, body: { memo: 1 } })
    const rotated = (await fixture.control('/keys/rotate', { key: payer.key })).body.key.secret
    await fixture.control('/keys/revoke', { key: rotated })
    await fixture.control(`/grants/${payer.grantId}/revoke`, {})
    await fixture.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
      'bursar',
    ])
    await call(fixture.baseUrl, 'GET', '/v1/me', { key: payer.key })

    const environment = fixture.environment()
    const { workspace } = fixture.sandbox.facts
    const secrets = {
      key: payer.key,
      rotated,
      unknown,
      ...workspace.keys,
      encryptionKey: environment['ENCRYPTION_KEY'],
      appSecret: environment['PRIVY_APP_SECRET'],
      databasePassword: new URL(environment['DATABASE_URL'] ?? '').password,
      passkeySignature: 'webauthn:',
      privateKey: 'PRIVATE KEY',
    }
    const logs = readLogs(fixture.dataDir)
    assert.match(logs['server.log'] ?? '', /"request"/)
    for (const [file, text] of Object.entries(logs)) {
      for (const [name, secret] of Object.entries(secrets)) {
        assert.ok(typeof secret === 'string' && secret.length > 0, name)
        assert.ok(!text.includes(secret), `${name} stands in ${file}`)
      }
    }
  })
})

function readLogs(dataDir: string): Record<string, string> {
  const folder = join(dataDir, 'logs')
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]))
}
