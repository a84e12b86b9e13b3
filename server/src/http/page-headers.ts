import type { FastifyReply } from 'fastify'

// There is no `Cross-Origin-Opener-Policy`: clients open the consent page in a separate window, and with this header
// they would permanently lose their reference to that window.

/**
 * What a page may load, and who may embed it. There is no `form-action`, because browsers also apply it to the
 * redirects that follow the consent form. `form-action` would block the redirect to the client after the code was
 * issued.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Frame-Options': 'DENY',
  // URLs contain handles and invitations, so they must not be sent to other sites (RFC 9700, section 4.2). Our own site
  // needs the referrer: without it, a form's post would have the header `Origin: null`.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
  'Cache-Control': 'no-store',
} as const

/**
 * Sets the headers of our pages. The pages are HTML, no site can embed them (RFC 9700, section 4.16), and no cache
 * stores them.
 */
export function setPageHeaders(reply: FastifyReply): void {
  void reply.headers(PAGE_HEADERS)
}
