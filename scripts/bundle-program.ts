// Builds a program into a folder: `node scripts/bundle-program.ts <entry> <folder>`. The program is one file then,
// instead of thousands of modules.
import { relative } from 'node:path'
import { parseSync } from 'oxc-parser'
import { rolldown } from 'rolldown'
import { BUILT_NAME } from '../sandbox/src/processes/programs.ts'

const [entry = '', folder = ''] = process.argv.slice(2)
const PROPERTY = '.url'

/**
 * Replaces `import.meta.url` in a module with the URL of its source. The sources find other files, such as the
 * migrations, relative to this URL, but the bundle is in another folder.
 */
function keepUrl(code: string, file: string): { code: string; map: null } {
  const url = `new URL(${JSON.stringify(relative(folder, file))}, import.meta.url).href`
  // The parser skips strings and comments, which may contain the same text.
  const found = parseSync(file, code).module.importMetas.filter(({ end }) => code.startsWith(PROPERTY, end))
  const replaced = found.reduceRight(
    (text, { start, end }) => text.slice(0, start) + url + text.slice(end + PROPERTY.length),
    code,
  )
  // No line moves, so the current source map is still good enough.
  return { code: replaced, map: null }
}

const bundle = await rolldown({
  input: entry,
  platform: 'node',
  logLevel: 'warn',
  plugins: [{ name: 'keep-url', transform: { filter: { code: `import.meta${PROPERTY}` }, handler: keepUrl } }],
})
await bundle.write({
  dir: folder,
  format: 'esm',
  entryFileNames: BUILT_NAME,
  // If a running program loaded other files later, it would not find them after the next build.
  codeSplitting: false,
  // Node stores a text that has other characters than ASCII in twice the memory. Names and lines stay as they are, so
  // that people can read stack traces.
  comments: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
})
await bundle.close()
