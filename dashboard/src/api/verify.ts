import { startAuthentication } from '@simplewebauthn/browser'
import { send } from './send.ts'

/** Proves by passkey that the signed-in person is present. The session gets a new secret. */
export async function verify(): Promise<void> {
  const { options } = await send('POST /console/verification/options', { body: {} })
  const response = await startAuthentication({ optionsJSON: options })
  await send('POST /console/verification', { body: { response } })
}

/** Does the same, unless the person has proved it recently. If nobody is signed in, the next request will say so. */
export async function ensureVerified(): Promise<void> {
  const { session } = await send('GET /console/session', {})
  if (session?.verified === false) await verify()
}
