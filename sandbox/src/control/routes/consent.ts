import { fetchOnce } from '../../lib/fetch-once.ts'
import { getWorkspace } from '../../../../server/src/domain/workspaces/get-workspace.ts'
import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { PROBLEM_STATUS, Problem, type ProblemType } from '../../../../server/src/values/problem.ts'
import { Fields } from '../fields.ts'
import { ensureOwner, signInOwner } from '../owners.ts'
import { slugIn } from '../path-fields.ts'
import type { ControlContext } from '../control-context.ts'

/** The time limit for a response of the service. It is much longer than the service takes. */
const ANSWER_MS_MAX = 10_000

/**
 * Adds the route that connects an application as its user would: the owner signs in, opens the authorization URL, and
 * decides on the consent page.
 */
export function addConsentRoute(http: HttpServer, control: ControlContext): void {
  http.post('/workspaces/:slug/consent', async (request) => {
    const workspace = await getWorkspace(control.context, slugIn(request))
    const fields = new Fields(request.body)
    const authorizeUrl = readAuthorizeUrl(fields, control.addresses.authUrl)
    const form = {
      decision: fields.flag('approve', true) ? 'approve' : 'deny',
      workspace: workspace.slug,
      mode: fields.mode(),
      agent_id: fields.text('agent_id'),
    }
    await ensureOwner(control, workspace)
    const browser = openBrowser(control.addresses.authUrl, await signInOwner(control, workspace.slug))

    const opened = await browser.get(authorizeUrl)
    const location = await readRedirect(opened)
    const page = new URL(location, authorizeUrl)
    const handle = page.searchParams.get('request')
    // If the redirect does not lead to our consent page, it leads to the client and already contains an error.
    if (page.origin !== authorizeUrl.origin || page.pathname !== '/consent' || handle === null) return { location }
    return { location: await readRedirect(await browser.post('/oauth/consent', { ...form, request: handle })) }
  })
}

/** Returns functions that send requests like the browser of a signed-in user. */
function openBrowser(authUrl: string, session: string) {
  const send = (url: URL, change: RequestInit = {}, headers: Record<string, string> = {}): Promise<Response> =>
    fetchOnce(url, {
      ...change,
      headers: { ...headers, accept: 'text/html', cookie: `session=${session}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
  return {
    get: (url: URL) => send(url),
    post: (path: string, form: Record<string, string>) => {
      const headers = { origin: authUrl, 'sec-fetch-site': 'same-origin' }
      return send(new URL(path, authUrl), { method: 'POST', body: new URLSearchParams(form) }, headers)
    },
  }
}

/**
 * Reads a URL of our own authorization endpoint. Any other URL is rejected, because the owner's cookie is sent to the
 * URL.
 */
function readAuthorizeUrl(fields: Fields, authUrl: string): URL {
  const text = fields.text('authorize_url')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.origin === authUrl && url.pathname === '/oauth/authorize') return url
  const message = `authorize_url must be an address of ${authUrl}/oauth/authorize`
  throw new Problem('validation_failed', `${message}.`, { details: [{ path: 'authorize_url', message }] })
}

/**
 * Returns the address that the response redirects to. If the response is an error page, throws a problem with the
 * page's status and text.
 */
async function readRedirect(response: Response): Promise<string> {
  const location = response.headers.get('location')
  const text = toPlainText(await response.text())
  if (location !== null) return location
  const types = Object.entries(PROBLEM_STATUS) as [ProblemType, number][]
  const type = types.find(([, status]) => status === response.status)?.[0] ?? 'internal'
  throw new Problem(type, text)
}

function toPlainText(html: string): string {
  return html
    .replace(/<(style|script|title)[^>]*>.*?<\/\1>/gs, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
