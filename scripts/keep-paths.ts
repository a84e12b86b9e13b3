import { parseSync } from 'oxc-parser'
import type { Plugin } from 'rolldown'

const PROPERTY = '.url'

/**
 * Replaces `import.meta.url` in every module with the URL of its source. The sources find other files, such as the
 * migrations, relative to this URL, but a bundle is in another folder. `locate` receives the path of a module, and
 * returns an expression for the URL.
 */
export function keepPaths(locate: (file: string) => string): Plugin {
  return {
    name: 'keep-paths',
    transform: {
      filter: { code: `import.meta${PROPERTY}` },
      handler: (code, file) => {
        // The parser skips strings and comments, which may contain the same text.
        const found = parseSync(file, code).module.importMetas.filter(({ end }) => code.startsWith(PROPERTY, end))
        const replaced = found.reduceRight(
          (text, { start, end }) => text.slice(0, start) + locate(file) + text.slice(end + PROPERTY.length),
          code,
        )
        // No line moves, so the current source map is still good enough.
        return { code: replaced, map: null }
      },
    },
  }
}
