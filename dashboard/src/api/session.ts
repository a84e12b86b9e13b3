import {
  startAuthentication,
  startRegistration,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { send } from './send.ts'
import type { Session } from './wire.ts'

/** Who is signed in; null when nobody is. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }) =>
    (await send<{ session: Session | null }>('GET', '/console/session', { signal })).session,
  staleTime: 30_000,
})

export interface SignedUp {
  readonly session: Session
  readonly recovery_codes: readonly string[]
}

/** Whether anybody may sign up, or only who is invited. */
export const signUpPolicyQuery = queryOptions({
  queryKey: ['sign-up-policy'],
  queryFn: async ({ signal }) =>
    (await send<{ sign_up: 'open' | 'invited' }>('GET', '/console/session', { signal })).sign_up,
  staleTime: Infinity,
})

/** With the secret of the invitation that the person came by, where they came by one. */
export async function signUp(name: string, invitation: string | null): Promise<SignedUp> {
  const { options } = await send<{ options: PublicKeyCredentialCreationOptionsJSON }>(
    'POST',
    '/console/sign-up/options',
    { body: invitation === null ? { name } : { name, invitation } },
  )
  const response = await startRegistration({ optionsJSON: options })
  return send<SignedUp>('POST', '/console/sign-up', { body: { response } })
}

/** Signs in with whatever passkey of this site the person picks: no name is asked for. */
export async function signIn(): Promise<Session> {
  const { options } = await send<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    'POST',
    '/console/sign-in/options',
    { body: {} },
  )
  const response = await startAuthentication({ optionsJSON: options })
  const { session } = await send<{ session: Session }>('POST', '/console/sign-in', { body: { response } })
  return session
}

/** Signs in with a recovery code, which is used up by it. */
export async function recover(code: string): Promise<Session> {
  const { session } = await send<{ session: Session }>('POST', '/console/recovery', { body: { code } })
  return session
}

/** Signs the person out in every other browser; answers in how many. */
export async function signOutElsewhere(): Promise<number> {
  return (await send<{ ended: number }>('POST', '/console/sign-out-elsewhere', { body: {} })).ended
}

/** Signs out and loads the page at `to` afresh, so that nothing of the person stays in the page's memory. */
export async function signOut(to: string): Promise<void> {
  await send('POST', '/console/sign-out', { body: {} })
  window.location.assign(to)
}
