import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-codes.ts'
import { cleanLine } from '../output/clean-text.ts'

/** More than any response of the service has. A larger one is not read. */
const RESPONSE_BYTES_MAX = 64 * 1024 * 1024
const REDIRECT_MIN = 300
const CLIENT_ERROR_MIN = 400

/**
 * Throws if the response is a redirect. No request follows one: the credential would go to an address that nobody has
 * named, or the response of another host would be trusted as if the service had sent it.
 */
export function checkNotRedirected({ status, headers }: Response, url: string): void {
  if (status < REDIRECT_MIN || status >= CLIENT_ERROR_MIN) return
  const { origin } = new URL(url)
  const location = headers.get('location') ?? ''
  const target = URL.canParse(location, url) ? new URL(location, url) : null
  const isElsewhere = target !== null && target.origin !== origin
  throw new CliError(
    `${origin} redirects to ${target === null ? 'nowhere' : cleanLine(target.origin + target.pathname)}.`,
    {
      exitCode: EXIT.failure,
      code: 'redirected',
      hint: isElsewhere
        ? `If you trust ${cleanLine(target.origin)}, use it as the address of the service.`
        : 'A proxy may ask for a sign-in of its own. Use an address at which the service itself responds.',
      next: isElsewhere ? ['bursar', 'login', cleanLine(target.origin)] : null,
    },
  )
}

/** Returns the error for an address at which something else than the service responds, such as a web page. */
export function notOurs(url: string): CliError {
  return new CliError(`There is no Bursar service at ${cleanLine(new URL(url).origin)}.`, {
    exitCode: EXIT.failure,
    code: 'not_a_service',
    hint: 'Use the address of its REST API, the BASE_URL of the service.',
  })
}

/** Reads the body of a response as text. Throws if the body is larger than every response of the service. */
export async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > RESPONSE_BYTES_MAX) throw notOurs(response.url)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
