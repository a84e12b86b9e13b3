import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FakeService, IssuedTokens } from './fake-service.ts'
import type { Home } from './run-cli.ts'

/** What the command line stores about a sign-in. */
export interface StoredSession {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresAt: string
}

/** Returns the path of the file with the tokens for a server. */
export function sessionPath({ folder }: Pick<Home, 'folder'>, url: string): string {
  return join(folder, 'bursar', 'sessions', `${url.replaceAll(/[^a-z0-9.-]+/gi, '_')}.json`)
}

export async function readSessionFile(home: Pick<Home, 'folder'>, url: string): Promise<StoredSession> {
  return JSON.parse(await readFile(sessionPath(home, url), 'utf8')) as StoredSession
}

/** Writes the file of a sign-in at the fake service. By default, the access token expires in an hour. */
export async function signInAt(
  home: Pick<Home, 'folder'>,
  service: FakeService,
  { mode = 0o600, expiresInMs = 3_600_000 }: { mode?: number; expiresInMs?: number } = {},
): Promise<IssuedTokens> {
  const issued = service.issueTokens()
  const session = {
    version: 1,
    baseUrl: service.url,
    issuer: service.url,
    tokenEndpoint: `${service.url}/oauth/token`,
    revocationEndpoint: `${service.url}/oauth/revoke`,
    clientId: 'svc_client_1',
    accessToken: issued.access_token,
    refreshToken: issued.refresh_token,
    expiresAt: new Date(Date.now() + expiresInMs).toISOString(),
    scope: issued.scope,
  }
  const path = sessionPath(home, service.url)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, JSON.stringify(session), { mode })
  return issued
}
