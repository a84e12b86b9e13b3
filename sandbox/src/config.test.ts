import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { it } from 'node:test'
import { readConfig, SandboxConfigError } from './config.ts'

it('has defaults for the port, the data directory and the profile', () => {
  assert.deepEqual(readConfig({}), { port: 4100, dataDir: resolve('.bursar'), enclaveProfile: 'realistic' })
})

it('reads them from the environment', () => {
  const config = readConfig({ BURSAR_PORT: '5200', BURSAR_DATA_DIR: 'elsewhere', BURSAR_ENCLAVE_PROFILE: 'fast' })
  assert.deepEqual(config, { port: 5200, dataDir: resolve('elsewhere'), enclaveProfile: 'fast' })
})

it('refuses to run in production', () => {
  assert.throws(() => readConfig({ BURSAR_ENV: 'production' }), SandboxConfigError)
})

for (const port of ['', 'x', '-1', '80', '65530', '4100.5', '123456']) {
  it(`rejects the port "${port}"`, () => {
    assert.throws(() => readConfig({ BURSAR_PORT: port }), { name: 'SandboxConfigError', message: /BURSAR_PORT/ })
  })
}

it('rejects an unknown profile', () => {
  assert.throws(() => readConfig({ BURSAR_ENCLAVE_PROFILE: 'slow' }), {
    name: 'SandboxConfigError',
    message: /BURSAR_ENCLAVE_PROFILE/,
  })
})
