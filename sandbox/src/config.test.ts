import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { it } from 'node:test'
import { readConfig, SandboxConfigError } from './config.ts'

it('has a port and a data directory without any setting', () => {
  assert.deepEqual(readConfig({}), { port: 4100, dataDir: resolve('.bursar') })
})

it('takes both from the environment', () => {
  const config = readConfig({ BURSAR_PORT: '5200', BURSAR_DATA_DIR: 'elsewhere' })
  assert.deepEqual(config, { port: 5200, dataDir: resolve('elsewhere') })
})

it('refuses to run in production', () => {
  assert.throws(() => readConfig({ BURSAR_ENV: 'production' }), SandboxConfigError)
})

for (const port of ['', 'x', '-1', '80', '65530', '4100.5', '123456']) {
  it(`refuses the port "${port}"`, () => {
    assert.throws(() => readConfig({ BURSAR_PORT: port }), { name: 'SandboxConfigError', message: /BURSAR_PORT/ })
  })
}
