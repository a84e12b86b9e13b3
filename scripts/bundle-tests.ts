// Builds one module for each test process: `node scripts/bundle-tests.ts <list> <folder>`. The list is a JSON object
// with the test files of each process. Code that several processes use is in files that they share.
//
// A test process needs up to two thousand modules, and there are more than fifty processes. Loading a bundle takes less
// processor time than loading the modules one by one. All bundles together are built in about five seconds (decision
// 0050).
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { rolldown, type Plugin } from 'rolldown'
import { keepPaths } from './keep-paths.ts'

/** Packages that find files of their own beside their modules, or load native code. */
const NOT_BUNDLED = ['oidc-provider', 'oxc-parser', 'playwright-core', 'rolldown']
/** Marks the modules that exist only during this build. Each of them imports the test files of one process. */
const ENTRY_PREFIX = '\0process:'
/** The last statement of a bundle, when all tests are declared (`scripts/stop-tracking.mjs`). */
const STOP_TRACKING = 'globalThis.stopTracking?.()\n'

const [list = '', folder = ''] = process.argv.slice(2)
const processes = JSON.parse(readFileSync(list, 'utf8')) as Readonly<Record<string, readonly string[]>>

const bundle = await rolldown({
  input: Object.fromEntries(Object.keys(processes).map((name) => [name, `${ENTRY_PREFIX}${name}`])),
  platform: 'node',
  logLevel: 'warn',
  // A warning ends the build. For example, an import that is not found would only fail when the test runs.
  onLog: (_level, log, handle) => handle('error', log),
  // A test file is kept even if the package that it tests declares that its modules have no side effects.
  treeshake: { moduleSideEffects: [{ test: /\.test\.ts$/, sideEffects: true }] },
  plugins: [writeEntries(), leaveOut(NOT_BUNDLED), keepPaths((file) => JSON.stringify(pathToFileURL(file).href))],
})
await bundle.write({
  dir: folder,
  format: 'esm',
  entryFileNames: '[name].mjs',
  chunkFileNames: 'shared/[name]-[hash].mjs',
  sourcemap: true,
})
await bundle.close()

function writeEntries(): Plugin {
  return {
    name: 'write-entries',
    resolveId: { filter: { id: new RegExp(`^${ENTRY_PREFIX}`) }, handler: (id) => id },
    load: {
      filter: { id: new RegExp(`^${ENTRY_PREFIX}`) },
      handler: (id) => {
        const files = processes[id.slice(ENTRY_PREFIX.length)] ?? []
        return `${files.map((file) => `import ${JSON.stringify(file)}\n`).join('')}${STOP_TRACKING}`
      },
    },
  }
}

/** Leaves packages out of the bundles, which then import them from where they are installed. */
function leaveOut(packages: readonly string[]): Plugin {
  return {
    name: 'leave-out',
    resolveId: {
      filter: { id: new RegExp(`^(?:${packages.join('|')})$`) },
      async handler(id, importer) {
        const found = await this.resolve(id, importer, { skipSelf: true })
        return found === null ? null : { id: pathToFileURL(found.id).href, external: true }
      },
    },
  }
}
