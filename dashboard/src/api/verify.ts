import { startAuthentication, type PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import { send } from './send.ts'
import type { Session } from './wire.ts'

/** Proves by passkey that the signed-in person is there. The session's secret is changed with it. */
export async function verify(): Promise<void> {
  const { options } = await send<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    'POST',
    '/console/verification/options',
    { body: {} },
  )
  const response = await startAuthentication({ optionsJSON: options })
  await send('POST', '/console/verification', { body: { response } })
}

/** Does so unless the person proved it just now. Whoever is signed in no longer is left to what comes next, to sign in. */
export async function ensureVerified(): Promise<void> {
  const { session } = await send<{ session: Session | null }>('GET', '/console/session')
  if (session?.verified === false) await verify()
}
