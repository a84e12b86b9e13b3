import { startAuthentication } from '@simplewebauthn/browser'
import { send } from './send.ts'

/**
 * Asks the signed-in user for their passkey as a proof of their presence. The server then gives the session a new
 * secret.
 */
export async function verify(): Promise<void> {
  const { options } = await send('POST /console/verification/options', { body: {} })
  const response = await startAuthentication({ optionsJSON: options })
  await send('POST /console/verification', { body: { response } })
}

/**
 * Asks for the passkey unless the session has a recent proof. Does nothing if nobody is signed in: the next request
 * will then fail with a 401.
 */
export async function ensureVerified(): Promise<void> {
  const { session } = await send('GET /console/session', {})
  if (session?.verified === false) await verify()
}
