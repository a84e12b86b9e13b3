import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeDataDir, removeDataDir } from '../../test/support/test-enclave.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const SETTINGS = {
  ENCLAVE_APP_ID: 'app-test',
  ENCLAVE_APP_SECRET: 'secret-test',
  ENCLAVE_CONTROL_TOKEN: 'control-test',
  ENCLAVE_CHAINS: '{"eip155:84532":"http://127.0.0.1:9"}',
}

function start(env: Record<string, string>) {
  const execArgv = ['--disable-warning=ExperimentalWarning']
  return fork(MAIN, { env, execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
}

test('one message names every missing or malformed setting', async () => {
  const child = start({ ENCLAVE_APP_ID: 'app-test', ENCLAVE_PORT: 'x', ENCLAVE_CHAINS: '{"base":"y"}' })
  const exited = once(child, 'exit')
  assert.ok(child.stderr)
  const message = await text(child.stderr)
  assert.deepEqual(await exited, [1, null])
  for (const name of ['PORT', 'DATA_DIR', 'APP_SECRET', 'CONTROL_TOKEN', 'CHAINS']) {
    assert.match(message, new RegExp(`ENCLAVE_${name} is `))
  }
})

test('if the port is in use, the process ends with a message', async () => {
  const dataDir = await makeDataDir()
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  assert.ok(typeof address === 'object' && address !== null)
  const child = start({ ...SETTINGS, ENCLAVE_DATA_DIR: dataDir, ENCLAVE_PORT: String(address.port) })
  const exited = once(child, 'exit')
  assert.ok(child.stderr)
  assert.match(await text(child.stderr), /EADDRINUSE/)
  assert.deepEqual(await exited, [1, null])
  taken.close()
  await removeDataDir(dataDir)
})

test('reports on its standard output that it is ready, and stops cleanly when its parent exits', async () => {
  const dataDir = await makeDataDir()
  const child = start({ ...SETTINGS, ENCLAVE_DATA_DIR: dataDir })
  assert.ok(child.stdout)
  const output = text(child.stdout)
  const exited = once(child, 'exit')
  const [message] = (await once(child, 'message')) as [unknown]
  child.disconnect()
  assert.deepEqual(await exited, [0, null])
  assert.deepEqual(JSON.parse(await output), message)
  await removeDataDir(dataDir)
})
