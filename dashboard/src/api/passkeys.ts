import type { Passkey } from '@bursar/server/src/console/contract/passkeys.ts'
import { startRegistration } from '@simplewebauthn/browser'
import { request } from './request.ts'

export async function addPasskey(name: string): Promise<Passkey> {
  const { options } = await request('POST /console/passkeys/options', { body: {} })
  const response = await startRegistration({ optionsJSON: options })
  return (await request('POST /console/passkeys', { body: { response, name } })).passkey
}

export async function removePasskey(id: string): Promise<void> {
  await request('DELETE /console/passkeys/:id', { params: { id } })
}

/** Generates ten new recovery codes. The earlier codes stop working. */
export async function issueRecoveryCodes(): Promise<readonly string[]> {
  return (await request('POST /console/recovery-codes', { body: {} })).recovery_codes
}
