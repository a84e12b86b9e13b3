import { checkDocumentUrl } from './check-url.ts'
import { sendRequest, withoutAnswer, type Answer, type Outbound, type SentRequest } from './send-request.ts'

/** Requests without a workspace, such as those for documents, share their connections. */
const NO_WORKSPACE = ''

/**
 * Requests JSON from a URL that anybody may have chosen, without a retry, and returns the answer. Failures of the
 * server are returned as answers, not thrown. The URL and every address are checked as for webhooks (D45, D73).
 * Redirects are not followed, and no cookies, credentials or proxies are used.
 */
export async function getJson(
  outbound: Outbound,
  { url: text, ...limits }: { readonly url: string } & Pick<SentRequest, 'timeoutMs' | 'responseBytesMax'>,
): Promise<Answer> {
  const url = checkDocumentUrl(text, outbound.policy)
  if (typeof url === 'string') return withoutAnswer('blocked_address')
  return await sendRequest(outbound, url, {
    method: 'GET',
    headers: { accept: 'application/json' },
    body: null,
    connectionsOf: NO_WORKSPACE,
    ...limits,
  })
}
