/** The content of an error page: plain words for the user, and the OAuth error for the application's developer. */
export interface ErrorPage {
  readonly title: string
  /** What the user can do now. */
  readonly advice: string
  readonly message: string
  readonly error: string
  readonly parameter: string | undefined
  readonly requestId: string
}

export const STYLE_PATH = '/oauth/page.css'

/** The dashboard's logo. Its colors are in `page.css`. */
const MARK = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/>\
<path d="M9 9.5h14M9 16h5M9 22.5h5m3.5-3 2.8 2.8 5-5.6"/></svg>`

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/**
 * Returns a complete page without scripts. Its style is a separate file, because our content security policy forbids
 * inline styles.
 */
export function formatErrorPage(page: ErrorPage): string {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Error', page.error],
    ['Parameter', page.parameter],
    ['What is wrong', page.message],
    ['Request ID', page.requestId],
  ]
  const rows = facts.map(([name, value]) => (value === undefined ? '' : formatFact(name, value))).join('')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(page.title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main>
<p class="brand">${MARK}Bursar</p>
<h1>${escapeHtml(page.title)}</h1>
<p>${escapeHtml(page.advice)}</p>
<h2>Details</h2>
<dl>${rows}</dl>
</main>
</body>
</html>
`
}

function formatFact(name: string, value: string): string {
  return `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd></div>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
