import type { Database } from '../db/database.ts'
import { LOG_KEY, serverKeySealContext, SUCCESSOR_KEY } from '../db/server-key.ts'
import { findServerKey } from '../db/server-keys-store.ts'
import { slotSealContext } from '../domain/wallets/slot-seal-context.ts'
import { secretSealContext } from '../domain/webhooks/endpoint.ts'
import { describeEncryptionKey, findMissingKeys, type EncryptionKey } from '../domain/encryption-keys/encryption-key.ts'
import { listEncryptionKeys } from '../domain/encryption-keys/encryption-keys-store.ts'
import { createSealer, fingerprintOf, type SealingKey } from '../lib/sealing.ts'
import type { Finding } from './finding.ts'
import { listSealedSecrets, listSealedSlots } from './store.ts'

/** How many secrets of each kind are decrypted. */
const SAMPLES_MAX = 20
const LOST_KEY_ADVICE =
  'Set the keys that were used when these secrets were stored. Without them, agents cannot pay with the wallets that ' +
  'exist, and webhooks are not sent. Owners can still move the money. If a key is lost for good, npm run lost-key says ' +
  'what is lost, and retires it.'

/**
 * Checks that the encryption keys can decrypt the secrets in the database, and says which keys are not needed any more
 * (D74).
 */
export async function checkSealed(db: Database, encryptionKeys: readonly SealingKey[]): Promise<readonly Finding[]> {
  const sealer = createSealer(encryptionKeys)
  const [keys, slots, secrets, successorKey, logKey] = await db.readSlow([
    listEncryptionKeys(),
    listSealedSlots(SAMPLES_MAX),
    listSealedSecrets(SAMPLES_MAX),
    findServerKey(SUCCESSOR_KEY),
    findServerKey(LOG_KEY),
  ] as const)
  const samples = [
    ...slots.map(({ slot, sealed, ...wallet }) => ({ sealed, context: slotSealContext(wallet, slot) })),
    ...secrets.map(({ workspaceId, endpointId, sealed }) => ({
      sealed,
      context: secretSealContext(workspaceId, endpointId),
    })),
    ...(successorKey === null ? [] : [{ sealed: successorKey, context: serverKeySealContext(SUCCESSOR_KEY) }]),
    ...(logKey === null ? [] : [{ sealed: logKey, context: serverKeySealContext(LOG_KEY) }]),
  ]
  const closed = samples.filter(({ sealed, context }) => {
    try {
      sealer.open(sealed, context)
      return false
    } catch {
      return true
    }
  })
  const name = 'ENCRYPTION_KEY'
  const missing = findMissingKeys(keys, encryptionKeys)
  if (missing.length > 0) {
    const observed = `missing: ${missing.map(describeEncryptionKey).join(' and ')}, which the secrets in the database need`
    return [{ level: 'fail', name, observed, advice: LOST_KEY_ADVICE }]
  }
  if (samples.length === 0) return [{ level: 'ok', name, observed: 'no secrets are stored yet' }]
  if (closed.length === 0)
    return [
      { level: 'ok', name, observed: `it decrypts the stored secrets (${samples.length} checked)` },
      ...keys.flatMap((key) => describeUse(key, encryptionKeys)),
    ]
  const observed = `it does not decrypt ${closed.length} of ${samples.length} secrets in the database`
  return [{ level: 'fail', name, observed, advice: LOST_KEY_ADVICE }]
}

/** Says of each configured key, except the newest, whether a stored secret may still need it. */
function describeUse(key: EncryptionKey, [newest, ...others]: readonly SealingKey[]): Finding[] {
  if (newest === undefined || !others.some((other) => fingerprintOf(other) === key.fingerprint)) return []
  const observed =
    key.unusedSince === null
      ? `stored secrets may still need ${describeEncryptionKey(key)}`
      : `no stored secret has needed ${describeEncryptionKey(key)} since ${key.unusedSince.toISOString()}`
  return [{ level: 'ok', name: 'ENCRYPTION_KEYS', observed }]
}
