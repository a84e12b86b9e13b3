import type { Page } from './pages.ts'
import { slugOf } from './slug.ts'

/** A part of a page that the search can find: what is below one heading. */
export interface Section {
  readonly id: number
  /** Its path below `/docs/`, with the anchor of its heading. */
  readonly path: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

const CODE = /^```[^]*?^```$/gm
const MARKUP = /\]\([^)]*\)|[*`|[\]_>#]|<[^>]*>|-{3,}/g

/** Splits the pages at their headings. Code is left out. */
export function listSections(pages: readonly Page[]): Section[] {
  const sections = pages.flatMap((page) => {
    const [opening = '', ...others] = page.markdown.replaceAll(CODE, '').split(/^##+ /m)
    const path = page.path === 'index' ? '' : page.path
    return [
      { path, page: page.title, heading: '', text: plain(`${page.description} ${opening}`) },
      ...others.map((section) => {
        const [heading = '', ...lines] = section.split('\n')
        const anchor = slugOf(heading.replaceAll('`', ''))
        return { path: `${path}#${anchor}`, page: page.title, heading: plain(heading), text: plain(lines.join('\n')) }
      }),
    ]
  })
  return sections.map((section, id) => ({ id, ...section }))
}

function plain(markdown: string): string {
  return markdown.replaceAll(MARKUP, ' ').replaceAll(/\s+/g, ' ').trim()
}
