import type { Session } from '@bursar/server/src/console/contract/session.ts'
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { send } from './send.ts'

/** The session of the signed-in user; null if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) => (await send('GET /console/session', { signal })).session,
  staleTime: 30_000,
})

export interface SignedUp {
  readonly session: Session
  readonly recovery_codes: readonly string[]
}

/** Whether anyone may sign up, or only people with an invitation. */
export const signUpPolicyQuery = queryOptions({
  queryKey: ['sign-up-policy'],
  queryFn: async ({ signal }) => (await send('GET /console/session', { signal })).sign_up,
  staleTime: Infinity,
})

/** Creates a user with a passkey. `invitation` is the secret of the invitation link that the user followed, or null. */
export async function signUp(name: string, invitation: string | null): Promise<SignedUp> {
  const body = invitation === null ? { name } : { name, invitation }
  const { options } = await send('POST /console/sign-up/options', { body })
  const response = await startRegistration({ optionsJSON: options })
  return await send('POST /console/sign-up', { body: { response } })
}

/** Signs in with a passkey that the user picks. The user does not enter a name. */
export async function signIn(): Promise<Session> {
  const { options } = await send('POST /console/sign-in/options', { body: {} })
  const response = await startAuthentication({ optionsJSON: options })
  return (await send('POST /console/sign-in', { body: { response } })).session
}

/** Signs in with a recovery code. The code cannot be used again. */
export async function recover(code: string): Promise<Session> {
  return (await send('POST /console/recovery', { body: { code } })).session
}

/** Signs the user out in every other browser. Returns how many sessions ended. */
export async function signOutElsewhere(): Promise<number> {
  return (await send('POST /console/sign-out-elsewhere', { body: {} })).ended
}

/** Signs out and loads the page at `to` with a full reload, so that no data of the user stays in memory. */
export async function signOut(to: string): Promise<void> {
  await send('POST /console/sign-out', { body: {} })
  window.location.assign(to)
}
