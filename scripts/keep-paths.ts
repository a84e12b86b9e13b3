import { parseSync } from 'oxc-parser'
import type { Plugin } from 'rolldown'

const PROPERTY = '.url'

/**
 * Replaces `import.meta.url` in every module. The sources find files by their own path, such as the migrations, but a
 * bundle is in another folder. `locate` receives a module's path, and returns an expression for its URL.
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
