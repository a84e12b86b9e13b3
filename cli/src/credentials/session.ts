import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'
import { readPrivateFile, writePrivateFile } from './private-files.ts'

/** What a sign-in stores: the tokens for one server, and where they are refreshed and revoked. */
export interface Session {
  readonly baseUrl: string
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly revocationEndpoint: string
  readonly clientId: string
  readonly accessToken: string
  readonly refreshToken: string
  /** When the access token expires, by this machine's clock. */
  readonly expiresAt: Date
  readonly scope: string
}

const VERSION = 1
const SESSIONS_FOLDER = 'sessions'
const DEFAULT_FILE = 'config.json'

/** Returns the file of a server's session. Each server has its own file, so sign-ins do not disturb each other. */
export function sessionFile(folder: string, baseUrl: string): string {
  return join(folder, SESSIONS_FOLDER, `${baseUrl.replaceAll(/[^a-z0-9.-]+/gi, '_')}.json`)
}

/** Reads the session for a server. Returns null if there is none. */
export async function readSession(folder: string, baseUrl: string): Promise<Session | null> {
  const path = sessionFile(folder, baseUrl)
  const text = await readPrivateFile(path)
  if (text === null) return null
  const session = parseSession(text)
  if (session === null) {
    throw new CliError(`The file ${path} is damaged.`, {
      exitCode: 3,
      code: 'session_damaged',
      hint: 'Sign in again.',
      next: ['bursar', 'login', baseUrl],
    })
  }
  // Two addresses can have the same file name. A token must go only to the server that issued it.
  return session.baseUrl === baseUrl ? session : null
}

export async function writeSession(folder: string, session: Session): Promise<void> {
  const { expiresAt, ...rest } = session
  const content = { version: VERSION, ...rest, expiresAt: expiresAt.toISOString() }
  await writePrivateFile(sessionFile(folder, session.baseUrl), `${JSON.stringify(content, null, 2)}\n`)
}

export async function deleteSession(folder: string, baseUrl: string): Promise<void> {
  await rm(sessionFile(folder, baseUrl), { force: true })
}

/** Returns the server of the last sign-in. Commands without an address use it. */
export async function readDefaultUrl(folder: string): Promise<string | null> {
  const text = await readPrivateFile(join(folder, DEFAULT_FILE))
  if (text === null) return null
  const { default_url: url } = parseObject(text) ?? {}
  return typeof url === 'string' ? url : null
}

export async function writeDefaultUrl(folder: string, baseUrl: string): Promise<void> {
  await writePrivateFile(join(folder, DEFAULT_FILE), `${JSON.stringify({ default_url: baseUrl }, null, 2)}\n`)
}

function parseSession(text: string): Session | null {
  const { version, expiresAt, ...rest } = parseObject(text) ?? {}
  const { baseUrl, issuer, tokenEndpoint, revocationEndpoint, clientId, accessToken, refreshToken, scope } = rest
  const strings = { baseUrl, issuer, tokenEndpoint, revocationEndpoint, clientId, accessToken, refreshToken, scope }
  if (version !== VERSION || !areStrings(strings) || typeof expiresAt !== 'string') return null
  const date = new Date(expiresAt)
  return Number.isNaN(date.getTime()) ? null : { ...strings, expiresAt: date }
}

function areStrings<Name extends string>(values: Record<Name, unknown>): values is Record<Name, string> {
  return Object.values(values).every((value) => typeof value === 'string')
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
