import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-codes.ts'
import { finishBeforeExit } from '../signals.ts'
import { withFileLock } from './file-lock.ts'
import { OauthRefusal, requestTokens } from './oauth-calls.ts'
import { deleteSession, readSession, sessionFile, writeSession, type Session } from './session.ts'

/** A token that expires sooner than this is refreshed first, so that it is still valid when the request arrives. */
const MARGIN_MS = 60_000
/** How long to wait for another process that refreshes the token. One request takes at most 30 seconds. */
const LOCK_WAIT_MS_MAX = 45_000

/** The refusals that say that the session is over. Every other failure may be temporary. */
const FINAL_REFUSALS = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client'])

/**
 * Returns an access token that is valid now. Refreshes the stored token if it expires soon, or if it is equal to
 * `rejected`, which is a token that the service has just rejected.
 *
 * A refresh token works once, and its second use ends the session. So one process refreshes at a time, and the others
 * take over its result.
 */
export async function currentToken(folder: string, baseUrl: string, rejected?: string): Promise<string> {
  const isUsable = ({ accessToken, expiresAt }: Session): boolean =>
    accessToken !== rejected && expiresAt.getTime() - MARGIN_MS > Date.now()
  const read = async (): Promise<Session> => {
    const session = await readSession(folder, baseUrl)
    if (session === null) throw notSignedIn(baseUrl)
    return session
  }
  const first = await read()
  if (isUsable(first)) return first.accessToken
  const refreshed = await withFileLock(`${sessionFile(folder, baseUrl)}.lock`, {
    isDone: async () => isUsable(await read()),
    waitMsMax: LOCK_WAIT_MS_MAX,
    work: async () => {
      // Read again under the lock: another process may have refreshed the token since the first read.
      const session = await read()
      return isUsable(session) ? session : await finishBeforeExit(refresh(folder, session))
    },
  })
  return (refreshed ?? (await read())).accessToken
}

async function refresh(folder: string, session: Session): Promise<Session> {
  const { refreshToken, clientId, tokenEndpoint } = session
  try {
    const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId }
    const renewed = { ...session, ...(await requestTokens(tokenEndpoint, fields)) }
    await writeSession(folder, renewed)
    return renewed
  } catch (error) {
    if (!(error instanceof OauthRefusal)) throw error
    if (!FINAL_REFUSALS.has(error.error)) {
      throw new CliError(`The token could not be refreshed: ${error.message}`, {
        exitCode: EXIT.failure,
        code: error.error,
        hint: 'Try again later.',
        cause: error,
      })
    }
    // If a new sign-in has replaced the session meanwhile, the new session stays.
    const stored = await readSession(folder, session.baseUrl)
    if (stored?.refreshToken === refreshToken) await deleteSession(folder, session.baseUrl)
    throw new CliError(`The sign-in at ${session.baseUrl} has ended: ${error.message}`, {
      exitCode: EXIT.signIn,
      code: 'session_ended',
      hint: 'Sign in again.',
      next: ['bursar', 'login', session.baseUrl],
      cause: error,
    })
  }
}

/** Returns the error for a command that needs a credential and finds none. */
export function notSignedIn(baseUrl: string | null): CliError {
  const where = baseUrl === null ? '' : ` at ${baseUrl}`
  return new CliError(`You are not signed in${where}.`, {
    exitCode: EXIT.signIn,
    code: 'not_signed_in',
    hint: `Sign in with \`bursar login ${baseUrl ?? '<address of the service>'}\`, or set BURSAR_URL and BURSAR_API_KEY.`,
    next: baseUrl === null ? null : ['bursar', 'login', baseUrl],
  })
}
