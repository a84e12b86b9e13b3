import type { Database } from '../db/database.ts'
import { signerSealContext } from '../domain/agents/signer-seal.ts'
import { secretSealContext } from '../domain/webhooks/endpoint.ts'
import { createSealer } from '../lib/sealing.ts'
import type { Finding } from './finding.ts'
import { listSealedSecrets, listSealedSigners } from './store.ts'

/** Of each kind. One key sealed them all, so a few tell. */
const SAMPLES_MAX = 20

/** Whether the encryption key opens what is sealed in the database. */
export async function checkSealed(db: Database, encryptionKey: Buffer): Promise<readonly Finding[]> {
  const sealer = createSealer(encryptionKey)
  const [signers, secrets] = await db.runSlowBatch([
    listSealedSigners(SAMPLES_MAX),
    listSealedSecrets(SAMPLES_MAX),
  ] as const)
  const samples = [
    ...signers.map(({ accountId, mode, agentId, sealed }) => ({
      sealed,
      context: signerSealContext(accountId, mode, agentId),
    })),
    ...secrets.map(({ accountId, endpointId, sealed }) => ({
      sealed,
      context: secretSealContext(accountId, endpointId),
    })),
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
  if (samples.length === 0) return [{ level: 'ok', name, seen: 'nothing is sealed yet' }]
  if (closed.length === 0) return [{ level: 'ok', name, seen: `it opens what is sealed (${samples.length} looked at)` }]
  const seen = `it does not open ${closed.length} of ${samples.length} secrets in the database`
  return [{ level: 'fail', name, seen, todo: 'Set the key that this database was filled with.' }]
}
