import type { Passkey } from '@bursar/server/src/console/contract/passkeys.ts'
import { startRegistration } from '@simplewebauthn/browser'
import { request } from './request.ts'

export async function addPasskey(name: string): Promise<Passkey> {
  const { options } = await request('POST /console/passkeys/options', { body: {} })
  const response = await startRegistration({ optionsJSON: options })
  return (await request('POST /console/passkeys', { body: { response, name } })).passkey
}
