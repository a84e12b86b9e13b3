import type { SigningRequest } from '../domain/wallets/signing-request.ts'
import type { SigningRequest as SigningRequestView } from './contract/grants.ts'

/** The payload is the enclave request itself, so the passkey signs exactly what the enclave will carry out (D15). */
export function formatSigningRequest({ payload, expiresAt, credentials, before }: SigningRequest): SigningRequestView {
  return {
    payload: Buffer.from(payload).toString('base64url'),
    expires_at: expiresAt.toISOString(),
    credentials: credentials.map(({ id, publicKey, name }) => ({ id, public_key: publicKey, name })),
    before: before === null ? null : [...before],
  }
}
