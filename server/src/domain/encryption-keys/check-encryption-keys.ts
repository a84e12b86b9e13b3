import { fingerprintOf, type SealingKey } from '../../lib/sealing.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { Context } from '../context.ts'
import { describeEncryptionKey, findMissingKeys } from './encryption-key.ts'
import { listEncryptionKeys, recordEncryptionKey } from './encryption-keys-store.ts'

/**
 * Compares the encryption keys of the settings with those that stored secrets need (D74), and records the newest one.
 * Throws if a key is missing: then nobody could pay with the wallets whose signing keys it encrypts, and this process
 * would encrypt new secrets with a key that the others do not have.
 */
export async function checkEncryptionKeys(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  keys: readonly SealingKey[],
): Promise<void> {
  const missing = findMissingKeys(await db.read(listEncryptionKeys()), keys)
  if (missing.length > 0) {
    const names = missing.map(describeEncryptionKey).join(' and ')
    throw new OperatorError(
      `the secrets in the database were encrypted with ${names}, and the settings do not contain it. ` +
        'Set ENCRYPTION_KEY or ENCRYPTION_KEYS to the keys that were used before (see "Change the encryption key")',
    )
  }
  const [newest] = keys
  if (newest !== undefined) await db.write(recordEncryptionKey(fingerprintOf(newest), newest.id, clock.now()))
}
