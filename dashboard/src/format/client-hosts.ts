import type { Connection } from '@bursar/server/src/console/contract/connections.ts'

/**
 * Names an application by its hosts. An application with a metadata document is named by the document's host, which is
 * verified. Its redirect hosts follow if they differ: two applications of one publisher often differ only in them. A
 * registered application is named by the hosts to which the responses go.
 */
export function formatClientHosts({ document_host, redirect_hosts }: Connection['client']): string {
  const redirects = redirect_hosts.join(', ')
  if (document_host === null) return redirects
  return redirects === document_host ? document_host : `${document_host} (${redirects})`
}
