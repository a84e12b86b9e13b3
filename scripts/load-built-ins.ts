import { parseSync, type StaticImport } from 'oxc-parser'
import type { Plugin } from 'rolldown'

const BUILT_IN = /^node:/

/**
 * Replaces each `import` of a module of Node in a bundle with `process.getBuiltinModule`. An `import` reads every
 * property of the module, also those that load more of Node when they are read. For example, `import 'node:http'` loads
 * the client of `fetch` and of WebSockets, which takes up to a tenth of the processor time of the service's start.
 */
export function loadBuiltIns(): Plugin {
  return {
    name: 'load-built-ins',
    renderChunk(code, { fileName }) {
      const found = parseSync(fileName, code).module.staticImports.filter(({ moduleRequest }) =>
        BUILT_IN.test(moduleRequest.value),
      )
      return found.reduceRight((text, one) => text.slice(0, one.start) + formatLoad(one) + text.slice(one.end), code)
    },
  }
}

function formatLoad({ moduleRequest, entries }: StaticImport): string {
  const load = `process.getBuiltinModule(${JSON.stringify(moduleRequest.value)})`
  // Only a named import has a name. For a default import and for a namespace, the local name means the whole module.
  return entries
    .map(({ importName, localName }) =>
      importName.name === null ? localName.value : `{ ${importName.name}: ${localName.value} }`,
    )
    .map((declared) => `const ${declared} = ${load};`)
    .join(' ')
}
