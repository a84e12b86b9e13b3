/** A page with fewer headings gets no list of its headings. */
const HEADINGS_MIN = 3
const HEADING = /<h2 id="(?<id>[^"]*)">(?<title>.*?)<\/h2>/g

/** Inserts the list of a page's headings where the layout leaves a place for it. */
export function addContents(html: string): string {
  const headings = [...html.matchAll(HEADING)]
  const items = headings.map(({ groups }) => `<li><a href="#${groups?.['id']}">${groups?.['title']}</a></li>`)
  const list =
    items.length < HEADINGS_MIN
      ? ''
      : `<nav class="contents" aria-label="On this page"><ul>${items.join('')}</ul></nav>`
  return html.replace('<!-- contents -->', () => list)
}
