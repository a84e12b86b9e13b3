// Bundles the verifier of evidence into one file that people can read: `node scripts/bundle-verifier.ts <file>`. It keeps
// the names and the comments, and needs nothing but Node.js.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const [file = ''] = process.argv.slice(2)

const bundle = await rolldown({
  cwd: ROOT,
  input: join(ROOT, 'signer', 'program', 'bursar-verify.ts'),
  platform: 'node',
  logLevel: 'warn',
})
await bundle.write({ file, format: 'esm', codeSplitting: false, minify: false })
await bundle.close()
