// `npm run build`: builds the dashboard's static files, unless the existing ones were built from the same sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DASHBOARD = join(ROOT, 'dashboard')
const BUILT = join(DASHBOARD, 'dist')
const STAMP_NAME = 'built-of.txt'
/** The inputs of the build. */
const SOURCES = [
  'scripts/build-dashboard.ts',
  'dashboard/src',
  'dashboard/index.html',
  'dashboard/vite.config.ts',
  'package-lock.json',
]

process.exitCode = build()

/** Returns the exit code. */
function build(): number {
  const stamp = hashSources()
  if (readStamp(BUILT) === stamp) return 0
  // Built in a separate folder, so that a server that starts meanwhile never sees a half-finished build.
  const folder = join(DASHBOARD, `dist.${process.pid}`)
  const packageFile = createRequire(join(DASHBOARD, 'package.json')).resolve('vite/package.json')
  const vite = join(dirname(packageFile), 'bin', 'vite.js')
  const result = spawnSync(process.execPath, [vite, 'build', '--outDir', folder, '--emptyOutDir'], {
    cwd: DASHBOARD,
    encoding: 'utf8',
  })
  if (result.status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    process.stderr.write(`The dashboard could not be built.\n${result.stdout}${result.stderr}`)
    return 1
  }
  compressAssets(join(folder, 'assets'))
  writeFileSync(join(folder, STAMP_NAME), stamp)
  replaceBuilt(folder, stamp)
  return 0
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

function replaceBuilt(folder: string, stamp: string): void {
  const old = `${folder}.old`
  try {
    if (existsSync(BUILT)) renameSync(BUILT, old)
    renameSync(folder, BUILT)
  } catch (error) {
    // Another process was faster. Its build is equally good if it used the same sources.
    if (readStamp(BUILT) !== stamp) throw error
  } finally {
    for (const left of [folder, old]) rmSync(left, { recursive: true, force: true })
  }
}

function readStamp(folder: string): string | null {
  const file = join(folder, STAMP_NAME)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

function hashSources(): string {
  const hash = createHash('sha256')
  for (const file of SOURCES.flatMap(listFiles)) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex')
}

/** Returns the file itself, or all files below the folder, in a fixed order. */
function listFiles(path: string): string[] {
  if (!existsSync(join(ROOT, path))) return []
  if (/\.\w+$/.test(path)) return [path]
  return readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .toSorted()
}
