import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hexToBytes } from 'viem/utils'
import { generatePrivateKey } from 'viem/accounts'
import { openKeyVault } from './key-vault.ts'
import { makeDataDir, removeDataDir } from '../../test/support/test-enclave.ts'

let dataDir: string

before(async () => {
  dataDir = await makeDataDir()
})

after(async () => await removeDataDir(dataDir))

test('a sealed key can be opened for its own wallet only, does not contain the key, and survives a restart', () => {
  const key = generatePrivateKey()
  const sealed = openKeyVault(dataDir, { create: true }).seal('w1', key)
  const vault = openKeyVault(dataDir, { create: false })
  assert.equal(vault.open('w1', sealed), key)
  assert.equal(Buffer.from(sealed).includes(Buffer.from(hexToBytes(key))), false)
  assert.throws(() => vault.open('w2', sealed))
  const broken = Uint8Array.from(sealed, (byte, index) => (index === sealed.length - 1 ? byte ^ 1 : byte))
  assert.throws(() => vault.open('w1', broken))
})

test('a lost key file is never replaced by a new one while there are wallets', async () => {
  openKeyVault(dataDir, { create: true })
  await rm(join(dataDir, 'enclave.key'))
  assert.throws(() => openKeyVault(dataDir, { create: false }), /key file is missing/)
})
