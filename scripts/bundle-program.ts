// Builds a program into a folder: `node scripts/bundle-program.ts <entry> <folder>`. The program is one file then,
// instead of thousands of modules.
import { relative } from 'node:path'
import { rolldown } from 'rolldown'
import { BUILT_NAME } from '../sandbox/src/processes/programs.ts'
import { keepPaths } from './keep-paths.ts'
import { loadBuiltIns } from './load-built-ins.ts'

const [entry = '', folder = ''] = process.argv.slice(2)

const bundle = await rolldown({
  input: entry,
  platform: 'node',
  logLevel: 'warn',
  plugins: [
    keepPaths((file) => `new URL(${JSON.stringify(relative(folder, file))}, import.meta.url).href`),
    loadBuiltIns(),
  ],
})
// All code is in one file. If a running program loaded other files later, it would not find them after the next build.
await bundle.write({ dir: folder, format: 'esm', entryFileNames: BUILT_NAME, codeSplitting: false })
await bundle.close()
