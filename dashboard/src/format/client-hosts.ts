import type { Connection } from '@bursar/server/src/console/contract/connections.ts'

/**
 * Names an application by its hosts. An application with a metadata document is named by the document's host, which is
 * verified. Its redirect hosts follow if they differ from that host, because two applications of one publisher often
 * differ only in their redirect hosts. A registered application is named by its redirect hosts alone.
 */
export function formatClientHosts({ document_host, redirect_hosts }: Connection['client']): string {
  const redirects = redirect_hosts.join(', ')
  if (document_host === null) return redirects
  return redirects === document_host ? document_host : `${document_host} (${redirects})`
}
