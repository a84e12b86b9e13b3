// Builds a program into a folder: `node scripts/bundle-program.ts <entry> <folder>`. The program is one file then,
// instead of thousands of modules. With the flag `--load-built-ins`, it starts in less time, but needs Node 20.16 or 22.3.
import { relative } from 'node:path'
import { rolldown } from 'rolldown'
import { BUILT_NAME } from '../sandbox/src/processes/programs.ts'
import { keepPaths } from './keep-paths.ts'
import { loadBuiltIns } from './load-built-ins.ts'
import { SMALL_OUTPUT } from './small-output.ts'

const [entry = '', folder = '', ...flags] = process.argv.slice(2)

const bundle = await rolldown({
  input: entry,
  platform: 'node',
  logLevel: 'warn',
  plugins: [
    keepPaths((file) => `new URL(${JSON.stringify(relative(folder, file))}, import.meta.url).href`),
    ...(flags.includes('--load-built-ins') ? [loadBuiltIns()] : []),
  ],
})
// All code is in one file. If a running program loaded other files later, it would not find them after the next build.
await bundle.write({ dir: folder, format: 'esm', entryFileNames: BUILT_NAME, codeSplitting: false, ...SMALL_OUTPUT })
await bundle.close()
