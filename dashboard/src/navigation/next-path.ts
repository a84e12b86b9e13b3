const OWN_ORIGIN = 'https://own.invalid'
// oxlint-disable-next-line no-control-regex -- Browsers drop tabs and line feeds from URLs: `/<tab>/host` leaves the site.
const FORBIDDEN_PATTERN = /[\u0000-\u001f\u007f\\]/

/**
 * Returns the page to open after sign-in. Only paths of this site are accepted. For any other text, returns the start
 * page, so that a link to our sign-in page cannot redirect to another site.
 */
export function parseNextPath(text: string | null): string {
  if (text === null || !text.startsWith('/') || FORBIDDEN_PATTERN.test(text)) return '/'
  // `//host` is another site, and `/a/..//host` resolves to it.
  if (/^[^?#]*\/\//.test(text) || !URL.canParse(text, OWN_ORIGIN)) return '/'
  return new URL(text, OWN_ORIGIN).origin === OWN_ORIGIN ? text : '/'
}

/** The token in the path of an invitation, or null for any other path. */
export function parseInvitationToken(path: string): string | null {
  return /^\/invite\/([\w-]+)$/.exec(path)?.[1] ?? null
}

/** The URL of a sign-in page that opens `next` afterwards. */
export function withNext(path: '/sign-in' | '/sign-up' | '/recover', next: string): string {
  return next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`
}
