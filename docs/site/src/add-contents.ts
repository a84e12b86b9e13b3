/** How many headings a page must have for a list of them to help. */
const HEADINGS_MIN = 3
const HEADING = /<h2 id="(?<id>[^"]*)">(?<title>.*?)<\/h2>/g

/** Fills in the list of a page's headings, for which the layout leaves a place. */
export function addContents(html: string): string {
  const headings = [...html.matchAll(HEADING)]
  const items = headings.map(({ groups }) => `<li><a href="#${groups?.['id']}">${groups?.['title']}</a></li>`)
  const list =
    items.length < HEADINGS_MIN
      ? ''
      : `<nav class="contents" aria-label="On this page"><ul>${items.join('')}</ul></nav>`
  return html.replace('<!-- contents -->', () => list)
}
