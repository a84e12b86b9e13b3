import { startRegistration, type PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { request } from './request.ts'
import type { Passkey } from './wire.ts'

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: async ({ signal }) =>
    (await request<{ passkeys: readonly Passkey[] }>('GET', '/console/passkeys', { signal })).passkeys,
})

export async function addPasskey(name: string): Promise<Passkey> {
  const { options } = await request<{ options: PublicKeyCredentialCreationOptionsJSON }>(
    'POST',
    '/console/passkeys/options',
    { body: {} },
  )
  const response = await startRegistration({ optionsJSON: options })
  return (await request<{ passkey: Passkey }>('POST', '/console/passkeys', { body: { response, name } })).passkey
}

export async function removePasskey(id: string): Promise<void> {
  await request('DELETE', `/console/passkeys/${encodeURIComponent(id)}`)
}

/** Makes ten new recovery codes; the old ones are worth nothing from then on. */
export async function issueRecoveryCodes(): Promise<readonly string[]> {
  const answer = await request<{ recovery_codes: readonly string[] }>('POST', '/console/recovery-codes', { body: {} })
  return answer.recovery_codes
}
