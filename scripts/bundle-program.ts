// Builds a program into a folder: `node scripts/bundle-program.ts <entry> <folder>`. The program is one file then,
// instead of thousands of modules.
import { relative } from 'node:path'
import { rolldown } from 'rolldown'
import { BUILT_NAME } from '../sandbox/src/processes/programs.ts'

const [entry = '', folder = ''] = process.argv.slice(2)

const bundle = await rolldown({
  input: entry,
  platform: 'node',
  logLevel: 'warn',
  plugins: [
    {
      name: 'keep-paths',
      transform: {
        filter: { code: 'import.meta.url' },
        // The sources find files by their own path, such as the migrations. The built file is directly in `folder`.
        handler: (code, file) =>
          code.replaceAll(
            'import.meta.url',
            `new URL(${JSON.stringify(relative(folder, file))}, import.meta.url).href`,
          ),
      },
    },
  ],
})
// In one file, because a running program would not find its other files after the next build.
await bundle.write({ dir: folder, format: 'esm', entryFileNames: BUILT_NAME, codeSplitting: false })
await bundle.close()
