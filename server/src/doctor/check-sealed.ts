import type { Database } from '../db/database.ts'
import { serverKeySealContext, SUCCESSOR_KEY } from '../db/server-key.ts'
import { findServerKey } from '../db/server-keys-store.ts'
import { slotSealContext } from '../domain/wallets/slot-seal-context.ts'
import { secretSealContext } from '../domain/webhooks/endpoint.ts'
import { createSealer } from '../lib/sealing.ts'
import type { Finding } from './finding.ts'
import { listSealedSecrets, listSealedSlots } from './store.ts'

/** How many secrets of each kind are decrypted. One key encrypts all of them, so a few are enough. */
const SAMPLES_MAX = 20

/** Checks that the encryption key can decrypt the secrets in the database. */
export async function checkSealed(db: Database, encryptionKey: Buffer): Promise<readonly Finding[]> {
  const sealer = createSealer(encryptionKey)
  const [slots, secrets, successorKey] = await db.readSlow([
    listSealedSlots(SAMPLES_MAX),
    listSealedSecrets(SAMPLES_MAX),
    findServerKey(SUCCESSOR_KEY),
  ] as const)
  const samples = [
    ...slots.map(({ slot, sealed, ...wallet }) => ({ sealed, context: slotSealContext(wallet, slot) })),
    ...secrets.map(({ workspaceId, endpointId, sealed }) => ({
      sealed,
      context: secretSealContext(workspaceId, endpointId),
    })),
    ...(successorKey === null ? [] : [{ sealed: successorKey, context: serverKeySealContext(SUCCESSOR_KEY) }]),
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
  if (samples.length === 0) return [{ level: 'ok', name, observed: 'no secrets are stored yet' }]
  if (closed.length === 0)
    return [{ level: 'ok', name, observed: `it decrypts the stored secrets (${samples.length} checked)` }]
  const observed = `it does not decrypt ${closed.length} of ${samples.length} secrets in the database`
  return [{ level: 'fail', name, observed, advice: 'Set the key that was used when these secrets were stored.' }]
}
