import { readFileSync } from 'node:fs'
import type { Markdown, Token } from '@11ty/eleventy'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import ini from 'highlight.js/lib/languages/ini'
import json from 'highlight.js/lib/languages/json'
import nginx from 'highlight.js/lib/languages/nginx'
import typescript from 'highlight.js/lib/languages/typescript'
import { slugOf } from './slug.ts'

const LANGUAGES = { bash, ini, json, nginx, typescript }
const PICTURES = new URL('../pictures/', import.meta.url)

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)
hljs.registerAliases(['sh', 'console'], { languageName: 'bash' })
hljs.registerAliases(['ts', 'js'], { languageName: 'typescript' })
hljs.registerAliases(['toml'], { languageName: 'ini' })

/** Adds anchors, colored code, tables that scroll, inline pictures, and links between pages. */
export function amendMarkdown(markdown: Markdown): void {
  markdown.set({ html: true, linkify: false, typographer: false })
  markdown.core.ruler.push('anchors', ({ tokens }) => addAnchors(tokens))
  markdown.core.ruler.push('links', ({ tokens }) => tokens.forEach(amendLinks))
  const { rules } = markdown.renderer
  rules['fence'] = (tokens, index) => renderCode(tokens[index])
  // A table that is wider than the screen scrolls separately from the page. The keyboard can scroll it too.
  rules['table_open'] = (tokens, index) => {
    const count = tokens.slice(0, index + 1).filter(({ type }) => type === 'table_open').length
    return `<div class="table" tabindex="0" role="region" aria-label="Table ${count}"><table>\n`
  }
  rules['table_close'] = () => '</table></div>\n'
  rules['image'] = (tokens, index) => renderPicture(tokens[index])
}

function addAnchors(tokens: readonly Token[]): void {
  const used = new Map<string, number>()
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const slug = slugOf(textOf(tokens[index + 1]))
    const count = used.get(slug) ?? 0
    used.set(slug, count + 1)
    token.attrSet('id', count === 0 ? slug : `${slug}-${count}`)
  }
}

function textOf(token: Token | undefined): string {
  return token?.children?.map(({ content }) => content).join('') ?? ''
}

/** In the sources, links lead to `.md` files, so that they work in the repository. The site's paths have no suffix. */
function amendLinks(token: Token): void {
  for (const child of token.children ?? []) {
    const href = child.type === 'link_open' ? child.attrGet('href') : null
    if (href === null || /^[a-z]+:/.test(href)) continue
    child.attrSet(
      'href',
      href.replace(/(?:(^|\/)index)?\.md(?=$|#)/, '$1').replace(/^(?=$|#)/, href.startsWith('#') ? '' : './'),
    )
  }
}

function renderCode(token: Token | undefined): string {
  const { info = '', content = '' } = token ?? {}
  const [language = ''] = info.split(/\s/)
  const code =
    hljs.getLanguage(language) === undefined ? escapeHtml(content) : hljs.highlight(content, { language }).value
  return `<pre tabindex="0"><code>${code}</code></pre>\n`
}

/** Puts the SVG of a picture into the page, so that the picture has the colors of the theme. */
function renderPicture(token: Token | undefined): string {
  const source = token?.attrGet('src') ?? ''
  const name = /pictures\/([\w-]+\.svg)$/.exec(source)?.[1]
  if (name === undefined) throw new Error(`a picture of the documentation must be an SVG file in pictures/: ${source}`)
  const svg = readFileSync(new URL(name, PICTURES), 'utf8')
  return svg.replace('<svg ', `<svg role="img" aria-label="${escapeHtml(textOf(token))}" `).replaceAll(/\n\s*/g, '')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
