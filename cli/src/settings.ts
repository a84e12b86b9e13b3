import { usageError } from './cli-error.ts'
import { configFolder } from './credentials/config-folder.ts'
import { notSignedIn } from './credentials/current-token.ts'
import { checkTransport } from './credentials/oauth-calls.ts'
import { readDefaultUrl } from './credentials/session.ts'

/** The environment variables with a credential. The first one that is set is used. */
const CREDENTIAL_NAMES = ['BURSAR_API_KEY', 'BURSAR_TOKEN'] as const

export type Credential =
  | { readonly kind: 'environment'; readonly name: (typeof CREDENTIAL_NAMES)[number]; readonly secret: string }
  | { readonly kind: 'session' }

/** Which service a command calls, and as whom. */
export interface Settings {
  readonly folder: string
  readonly baseUrl: string
  /** Where the address comes from, in words. */
  readonly urlSource: string
  readonly credential: Credential
}

/**
 * Decides which service to call, and with which credential. A credential from the environment is sent only if the
 * caller also names the address, so it never reaches the server of an earlier sign-in by accident.
 */
export async function readSettings(env: NodeJS.ProcessEnv, urlOption: string | undefined): Promise<Settings> {
  const folder = configFolder(env)
  const credential = readCredential(env)
  const named = namedUrl(env, urlOption)
  if (named !== null) return { folder, credential, ...named }
  if (credential.kind === 'environment') {
    throw usageError(`${credential.name} is set, but not the service that it is for.`, {
      hint: 'Set BURSAR_URL to the address of the service, or use --url.',
    })
  }
  const baseUrl = await readDefaultUrl(folder)
  if (baseUrl === null) throw notSignedIn(null)
  return { folder, credential, baseUrl, urlSource: 'the last sign-in' }
}

/** Returns the address that the caller named, by `--url` or `BURSAR_URL`. */
export function namedUrl(
  env: NodeJS.ProcessEnv,
  urlOption: string | undefined,
): { readonly baseUrl: string; readonly urlSource: string } | null {
  if (urlOption !== undefined) return { baseUrl: parseBaseUrl(urlOption), urlSource: '--url' }
  const text = env['BURSAR_URL']
  return text === undefined || text === '' ? null : { baseUrl: parseBaseUrl(text), urlSource: 'BURSAR_URL' }
}

/** Parses the address of a service, and returns its origin. Only a loopback address may be plain http. */
export function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`${JSON.stringify(text)} is not the address of a service.`, {
      hint: 'An address looks like https://bursar.example.com.',
    })
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '' || url.pathname !== '/') {
    throw usageError('The address of a service has no path, query or password.', { hint: `Use ${url.origin}.` })
  }
  checkTransport(url.origin)
  return url.origin
}

function readCredential(env: NodeJS.ProcessEnv): Credential {
  const set = CREDENTIAL_NAMES.flatMap((name) => {
    const secret = env[name]
    return secret === undefined || secret === '' ? [] : [{ kind: 'environment' as const, name, secret }]
  })
  const [first, second] = set
  if (first !== undefined && second !== undefined && first.secret !== second.secret) {
    throw usageError(`${first.name} and ${second.name} are both set.`, { hint: 'Unset one of them.' })
  }
  if (first !== undefined && !/^[\x21-\x7e]+$/.test(first.secret)) {
    throw usageError(`${first.name} contains characters that no credential has, such as a space.`)
  }
  return first ?? { kind: 'session' }
}
