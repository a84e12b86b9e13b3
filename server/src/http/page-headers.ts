import type { FastifyReply } from 'fastify'

// There is no `Cross-Origin-Opener-Policy` either: clients open the consent page in a window of their own, and it would
// cut that window off from them for good.

/**
 * What a page may load and who may show it. There is no `form-action`: browsers hold every hop of the redirects after
 * the consent form against it, and so the way back to the client would be cut off after the code was made.
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
  // Handles and invitations stand in addresses, so nobody else is told of them (RFC 9700, section 4.2). We tell ourselves:
  // without a referrer a form's post would carry `Origin: null`, which comes from nowhere.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
  'Cache-Control': 'no-store',
} as const

/** Makes an answer a page of ours: HTML that nobody frames (RFC 9700, section 4.16), caches or loads into. */
export function setPageHeaders(reply: FastifyReply): void {
  void reply.headers(PAGE_HEADERS)
}
