import assert from 'node:assert/strict'
import { createPublicKey, hash, verify } from 'node:crypto'
import type { Database } from '../../../server/src/db/database.ts'
import type { OwnerAssertion } from '../../../server/src/enclave/enclave.ts'
import { readRows } from '../database/read-rows.ts'

/** A row of `owner_signatures`. */
export interface KeptSignature {
  readonly kind: string
  readonly subject: string
  readonly credential_id: string
  readonly public_key: Buffer
  readonly registration: { readonly attestationObject: string; readonly clientDataJSON: string } | null
  readonly relying_party_id: string
  readonly origin: string
  readonly received_from: unknown
  readonly challenge_sha256: Buffer
  readonly statement: Buffer | null
  readonly assertion_sealed: Buffer | null
  readonly assertion: OwnerAssertion | null
}

/** Returns the signatures that are kept for a workspace, oldest first. */
export async function readSignatures(db: Database, workspaceId: string): Promise<KeptSignature[]> {
  const text = 'select * from owner_signatures where workspace_id = $1 order by received_at, kind'
  return (await readRows(db, text, [workspaceId])) as KeptSignature[]
}

const USER_PRESENT_AND_VERIFIED = 0x05

/**
 * Verifies a signature with nothing but its row, as an auditor would who has neither the service nor a WebAuthn library.
 * Returns the exact bytes that the owner allowed.
 */
export function verifyOffline(row: KeptSignature): Buffer {
  const { authenticatorData, clientDataJSON, signature } = row.assertion ?? assert.fail('it is encrypted')
  const [data, client] = [toBytes(authenticatorData), toBytes(clientDataJSON)]
  assert.deepEqual(data.subarray(0, 32), sha256(row.relying_party_id))
  assert.equal((data[32] ?? 0) & USER_PRESENT_AND_VERIFIED, USER_PRESENT_AND_VERIFIED)
  const { type, origin, challenge } = JSON.parse(client.toString()) as Record<string, string>
  assert.deepEqual([type, origin], ['webauthn.get', row.origin])
  const key = createPublicKey({ key: row.public_key, format: 'der', type: 'spki' })
  assert.equal(key.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assert.ok(verify('sha256', Buffer.concat([data, sha256(client)]), key, toBytes(signature)))
  const signed = toBytes(challenge ?? '')
  assert.deepEqual(sha256(signed), row.challenge_sha256)
  if (row.statement === null) return signed
  assert.deepEqual(sha256(row.statement), signed)
  return row.statement
}

function toBytes(base64url: string): Buffer {
  return Buffer.from(base64url, 'base64url')
}

function sha256(bytes: string | Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer')
}
