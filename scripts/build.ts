// `npm run build`: builds the static files of the dashboard, the signer page and the documentation, the client, the
// command line, and the programs that the sandbox starts. Builds nothing that was already built from the same sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { listFiles } from '../sandbox/src/processes/hash-sources.ts'
import { PROGRAMS } from '../sandbox/src/processes/programs.ts'
import { buildOnce } from './stamped-build.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DASHBOARD = join(ROOT, 'dashboard')
const DOCS = join(ROOT, 'docs', 'site')
const CLI = join(ROOT, 'cli')
const SHARED_SOURCES = [
  'scripts/build.ts',
  'scripts/stamped-build.ts',
  'sandbox/src/processes/hash-sources.ts',
  'package-lock.json',
]
/** The documentation's own files, and files of other parts of the project whose content the documentation shows. */
const DOCS_SOURCES = [
  ...['pages', 'pictures', 'layouts', 'client', 'src'].map((folder) => `docs/site/${folder}`),
  'docs/site/package.json',
  'docs/glossary.md',
  'docs/signer-page.md',
  'SECURITY.md',
  'openapi.json',
  'server/src/values/problem.ts',
  'sandbox/src/control/endpoints.ts',
  'sandbox/src/enclave',
  'sandbox/src/seller',
  'sdk/examples',
  'sdk/src',
  'cli/src',
  ...SHARED_SOURCES,
]
/** The list of the signer page's files and their SHA-256 hashes, in the format of `sha256sum`. */
const SUMS_NAME = 'SHA256SUMS'

const BUILDS = [
  {
    name: 'dashboard',
    output: 'dashboard/dist',
    sources: ['dashboard/src', 'dashboard/index.html', 'dashboard/vite.config.ts', ...SHARED_SOURCES],
    build: buildDashboard,
  },
  {
    name: 'signer page',
    output: 'signer/dist',
    sources: [
      'signer/src',
      'signer/program',
      'signer/public',
      'scripts/bundle-verifier.ts',
      'signer/tsconfig.json',
      'signer/tsconfig.build.json',
      'tsconfig.base.json',
      ...SHARED_SOURCES,
    ],
    build: buildSigner,
  },
  {
    name: 'client',
    output: 'sdk/dist',
    sources: ['sdk/src', 'sdk/tsconfig.json', 'sdk/tsconfig.build.json', 'tsconfig.base.json', ...SHARED_SOURCES],
    build: buildClient,
  },
  {
    name: 'command line',
    output: 'cli/dist',
    // The command line contains the client, so the client is built before it.
    sources: [
      ...['cli/src', 'cli/package.json', 'sdk/src', 'signer/src', 'signer/program'],
      ...['scripts/bundle-program.ts', ...SHARED_SOURCES],
    ],
    build: buildCommandLine,
  },
  {
    name: 'documentation',
    output: 'docs/site/dist',
    sources: DOCS_SOURCES,
    build: buildDocs,
  },
  ...Object.entries(PROGRAMS).map(([name, { output, sources, entry }]) => ({
    name,
    output,
    sources,
    build: (folder: string) => buildProgram(entry, folder),
  })),
] as const

process.exitCode = BUILDS.every(isBuilt) ? 0 : 1

function isBuilt({ name, output, sources, build }: (typeof BUILDS)[number]): boolean {
  const fault = buildOnce({ root: ROOT, output, sources, build })
  if (fault !== null) process.stderr.write(`The ${name} could not be built.\n${fault}`)
  return fault === null
}

function buildDashboard(folder: string): string | null {
  const packageFile = createRequire(join(DASHBOARD, 'package.json')).resolve('vite/package.json')
  const vite = join(dirname(packageFile), 'bin', 'vite.js')
  const fault = runNode([vite, 'build', '--outDir', folder, '--emptyOutDir'], DASHBOARD)
  if (fault === null) compressAssets(join(folder, 'assets'))
  return fault
}

/** Compresses each file once, as small as possible. The server sends the variant that the client accepts. */
function compressAssets(folder: string): void {
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name))
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
  }
}

/**
 * Removes only the types from the signer page's sources, so that people can read the published code. The verifier of
 * evidence is also published as one program without other files.
 */
function buildSigner(folder: string): string | null {
  const verifier = [join(ROOT, 'scripts', 'bundle-verifier.ts'), join(folder, 'bursar-verify.mjs')]
  const fault = runTsc('signer/tsconfig.build.json', folder) ?? runNode(verifier, ROOT)
  if (fault !== null) return fault
  cpSync(join(ROOT, 'signer', 'public'), folder, { recursive: true })
  const sums = listFiles(`${folder}/`, '').map((file) => `${sha256(join(folder, file))}  ${relative('.', file)}\n`)
  writeFileSync(join(folder, SUMS_NAME), sums.join(''))
  return null
}

function buildDocs(folder: string): string | null {
  return runNode([join(DOCS, 'src', 'build.ts'), folder], DOCS)
}

/** Writes the modules and declarations that the package contains. */
function buildClient(folder: string): string | null {
  return runTsc('sdk/tsconfig.build.json', folder)
}

/** Bundles the command line with its packages, and adds the license of the only package that is not ours. */
function buildCommandLine(folder: string): string | null {
  const fault = buildProgram(pathToFileURL(join(CLI, 'src', 'main.ts')), folder)
  if (fault !== null) return fault
  const commander = createRequire(join(CLI, 'package.json')).resolve('commander')
  cpSync(join(dirname(commander), 'LICENSE'), join(folder, 'LICENSE.commander'))
  return null
}

function runTsc(project: string, folder: string): string | null {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  return runNode([tsc, '-p', join(ROOT, project), '--outDir', folder], ROOT)
}

function buildProgram(entry: URL, folder: string): string | null {
  return runNode([join(ROOT, 'scripts', 'bundle-program.ts'), fileURLToPath(entry), folder], ROOT)
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** Returns the output of the program if it fails, and otherwise null. */
function runNode(args: readonly string[], cwd: string): string | null {
  const result = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  return result.status === 0 ? null : `${result.stdout}${result.stderr}`
}
