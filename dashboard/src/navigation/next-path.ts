const OWN_ORIGIN = 'https://own.invalid'
// oxlint-disable-next-line no-control-regex -- A browser drops tabs and line feeds from an address: `/<tab>/host` leaves the site.
const FORBIDDEN_PATTERN = /[\u0000-\u001f\u007f\\]/

/**
 * The page to go on to after signing in. Only a path of this site passes; anything else becomes the start page, so that
 * a link to our sign-in page leads nobody astray.
 */
export function parseNextPath(text: string | null): string {
  if (text === null || !text.startsWith('/') || FORBIDDEN_PATTERN.test(text)) return '/'
  // `//host` is another site, and so is what `/a/..//host` comes to.
  if (/^[^?#]*\/\//.test(text) || !URL.canParse(text, OWN_ORIGIN)) return '/'
  return new URL(text, OWN_ORIGIN).origin === OWN_ORIGIN ? text : '/'
}

/** The secret of the invitation that a path leads to; null where it leads elsewhere. */
export function invitationIn(path: string): string | null {
  return /^\/invite\/([\w-]+)$/.exec(path)?.[1] ?? null
}

/** The address of a page of signing in that leads on to `next` afterwards. */
export function withNext(path: '/sign-in' | '/sign-up' | '/recover', next: string): string {
  return next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`
}
