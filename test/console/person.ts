import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { Context } from '../../server/src/domain/context.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'
import { answer, makePasskey, signUpPerson, toBytes } from '../support/context/people.ts'
import { Browser } from './browser.ts'

export interface WireSession {
  readonly user: { readonly id: string; readonly name: string }
  readonly workspaces: readonly WireWorkspace[]
  readonly passkeys: number
  readonly recovery_codes_left: number
  readonly verified: boolean
  readonly expires_at: string
}

export interface WireWorkspace {
  readonly slug: string
  readonly name: string
  readonly role: string
}

/** A signed-in person, with the browser and the passkey that they use. */
export interface Visitor {
  readonly browser: Browser
  readonly userId: string
  readonly passkey: SoftwarePasskey
  readonly recoveryCodes: readonly string[]
}

interface CreationOptions {
  readonly challenge: string
  readonly user: { readonly id: string; readonly name: string }
}

/** Signs up a person over HTTP, with the same requests as the dashboard. */
export async function signUp(
  server: { readonly context: Pick<Context, 'relyingParty'> },
  browser: Browser,
  name = 'Ada',
  invitation?: string,
): Promise<Visitor> {
  const { options } = await browser.ask<{ options: CreationOptions }>('POST', '/console/sign-up/options', {
    name,
    ...(invitation === undefined ? {} : { invitation }),
  })
  const passkey = makePasskey(server.context, options.user.id)
  const body = { response: passkey.register(toBytes(options.challenge)) }
  const answered = await browser.ask<{ session: WireSession; recovery_codes: string[] }>(
    'POST',
    '/console/sign-up',
    body,
    201,
  )
  return { browser, userId: answered.session.user.id, passkey, recoveryCodes: answered.recovery_codes }
}

export async function signIn(browser: Browser, passkey: SoftwarePasskey): Promise<WireSession> {
  const body = await beginSignIn(browser, passkey)
  return (await browser.ask<{ session: WireSession }>('POST', '/console/sign-in', body)).session
}

/** Begins a sign-in, and returns the body that completes it. */
export async function beginSignIn(browser: Browser, passkey: SoftwarePasskey): Promise<{ response: object }> {
  const { options } = await browser.ask<{ options: { challenge: string } }>('POST', '/console/sign-in/options', {})
  return { response: answer(passkey, options) }
}

export async function verify(browser: Browser, passkey: SoftwarePasskey): Promise<WireSession> {
  const { options } = await browser.ask<{ options: { challenge: string } }>('POST', '/console/verification/options', {})
  const body = { response: answer(passkey, options) }
  return (await browser.ask<{ session: WireSession }>('POST', '/console/verification', body)).session
}

export async function readSession(browser: Browser): Promise<WireSession | null> {
  return (await browser.ask<{ session: WireSession | null }>('GET', '/console/session')).session
}

/**
 * Signs up a person in a new browser. Calls the domain's functions instead of the HTTP endpoints, so the rate limits of
 * sign-ups and sign-ins are not used up.
 */
export async function openVisitor(server: ConsoleServer, name = 'Ada'): Promise<Visitor> {
  const { userId, passkey, recoveryCodes, secret } = await signUpPerson(server.context, name)
  const browser = new Browser(server)
  browser.cookies.set('session', secret)
  return { browser, userId, passkey, recoveryCodes }
}
