import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createApiKeySecret } from '../../server/src/values/api-key.ts'
import { call } from '../support/json-client.ts'
import { makeParty, pay } from '../support/party.ts'
import { openWorld, type World } from '../support/world.ts'

describe('secrets', () => {
  let world: World
  before(async () => {
    world = await openWorld({ serverEnv: () => ({ LOG_LEVEL: 'trace' }) })
  })
  after(() => world.close())

  test('no key, signature or password stands in any log line, at any level, whatever goes wrong', async () => {
    const party = await makeParty(world)
    const unknown = createApiKeySecret('test')
    await pay(world, party, { idempotency_key: 'one' })
    for (const fault of ['reject', 'unavailable', 'lost_response']) {
      await world.control('/enclave/faults', { fault, count: 1 })
      await pay(world, party, { idempotency_key: fault })
    }
    await call(world.baseUrl, 'GET', '/v1/me', { key: unknown })
    await call(world.baseUrl, 'POST', '/v1/payments', { key: party.key, body: { memo: 1 } })
    const rotated = (await world.control('/keys/rotate', { key: party.key })).body.key.secret
    await world.control('/keys/revoke', { key: rotated })
    await world.control(`/grants/${party.grantId}/revoke`, {})
    await world.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', ['bursar'])
    await call(world.baseUrl, 'GET', '/v1/me', { key: party.key })

    const environment = world.environment()
    const { workspace } = world.sandbox.facts
    const secrets = {
      key: party.key,
      rotated,
      unknown,
      ...workspace.keys,
      encryptionKey: environment['ENCRYPTION_KEY'],
      appSecret: environment['PRIVY_APP_SECRET'],
      databasePassword: new URL(environment['DATABASE_URL'] ?? '').password,
      passkeySignature: 'webauthn:',
      privateKey: 'PRIVATE KEY',
    }
    const logs = readLogs(world.dataDir)
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
