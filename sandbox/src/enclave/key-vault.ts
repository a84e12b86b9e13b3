import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, hexToBytes } from 'viem/utils'
import type { Hex } from 'viem'

/**
 * Encrypts the wallets' private keys. Each sealed key is bound to its wallet's id, so it cannot be opened after it was
 * copied to another wallet.
 */
export interface KeyVault {
  seal(walletId: string, privateKey: Hex): Uint8Array
  open(walletId: string, sealed: Uint8Array): Hex
}

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Opens the vault with the key file (0600) in the data directory. If the file is missing and `create` is true, creates
 * the file. Throws if the file is missing and `create` is false, or if the file is malformed.
 */
export function openKeyVault(dataDir: string, { create }: { create: boolean }): KeyVault {
  const path = join(dataDir, 'enclave.key')
  if (!existsSync(path)) {
    if (!create) throw new Error('The enclave has wallets, but its key file is missing, so they cannot be opened.')
    writeKeyFile(path)
  }
  const key = readFileSync(path)
  if (key.length !== KEY_BYTES) throw new Error("The enclave's key file must be 32 bytes long.")
  return {
    seal: (walletId, privateKey) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(walletId))
      const sealed = Buffer.concat([cipher.update(hexToBytes(privateKey)), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
    },
    open: (walletId, sealed) => {
      const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(walletId))
        .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return bytesToHex(Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]))
    },
  }
}

/** Writes the key file completely or not at all: with half a key, every wallet would be lost. */
function writeKeyFile(path: string): void {
  const unfinished = `${path}.new`
  const file = openSync(unfinished, 'w', 0o600)
  writeSync(file, randomBytes(KEY_BYTES))
  fsyncSync(file)
  closeSync(file)
  renameSync(unfinished, path)
}
