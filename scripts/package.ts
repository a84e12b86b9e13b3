// `npm run package [folder]`: writes everything that the service needs in production to a folder. The folder works
// without npm packages and without a build: it only needs Node.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listFiles, STAMP_NAME } from '../sandbox/src/processes/hash-sources.ts'
import { listPackages, readLicenses, toBillOfMaterials, type LockFile } from './bill-of-materials.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DEPENDING = ['server', 'dashboard']
/** The commands of the folder's package.json, with the options that `npm run server` has, and the programs' sources. */
const COMMANDS = {
  server: { source: 'server/src/main.ts', options: '--expose-gc --max-semi-space-size=32 --max-old-space-size=1024 ' },
  migrate: { source: 'server/src/migrate.ts', options: '' },
  invite: { source: 'server/src/invite.ts', options: '' },
  doctor: { source: 'server/src/doctor/main.ts', options: '' },
  'provider:check': { source: 'server/src/provider-check/main.ts', options: '' },
  'after-restore': { source: 'server/src/after-restore/main.ts', options: '' },
  'lost-key': { source: 'server/src/lost-key/main.ts', options: '' },
  'move-workspace': { source: 'server/src/move-workspace/main.ts', options: '' },
} as const
/** The programs find their files relative to `server/src`, so the folder has the same layout as the project. */
const COPIED = [
  'dashboard/dist',
  'docs/site/dist',
  'signer/dist',
  'server/migrations',
  'deploy/bursar.service',
  'deploy/monitoring',
  'LICENSE',
  'CHANGELOG.md',
]
const SUMS_NAME = 'SHA256SUMS'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly engines: { readonly node: string }
}

const manifest = readJson<Manifest>('package.json')
const folder = resolve(process.argv[2] ?? join(ROOT, 'dist', `bursar-${manifest.version}`))
if (existsSync(folder)) fail(`${folder} exists. Remove it, or name another folder.`)
run('build.ts')
try {
  write()
} catch (error) {
  rmSync(folder, { recursive: true, force: true })
  throw error
}
process.stdout.write(`${folder}\n`)

function write(): void {
  for (const path of COPIED) copy(path)
  const files = listFiles(`${ROOT}server/src/`, '')
  for (const file of files.filter((one) => !one.endsWith('.ts'))) copy(`server/src/${file}`)
  for (const [name, { source }] of Object.entries(COMMANDS)) bundle(name, source)
  const packages = listPackages(readJson<LockFile>('package-lock.json'), DEPENDING)
  writeJson('sbom.cdx.json', toBillOfMaterials(packages, manifest))
  put('THIRD_PARTY_LICENSES', readLicenses(packages, ROOT))
  const scripts = Object.entries(COMMANDS).map(([name, { options }]) => [name, `exec node ${options}${pathOf(name)}`])
  const { version, license, engines } = manifest
  writeJson('package.json', {
    ...{ name: 'bursar', version, private: true, license, type: 'module', engines },
    scripts: Object.fromEntries(scripts),
  })
  const sums = listFiles(`${folder}/`, '').map((file) => `${sha256(readFileSync(join(folder, file)))}  ${file}\n`)
  put(SUMS_NAME, sums.join(''))
}

/** Bundles a program. It is first written inside the project, because it keeps its distance to `server/src`. */
function bundle(name: string, source: string): void {
  const built = join(ROOT, 'server', `dist.package-${process.pid}`)
  try {
    run('bundle-program.ts', join(ROOT, source), built)
    put(pathOf(name), readFileSync(join(built, 'main.js')))
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
}

function pathOf(name: string): string {
  return `server/dist/${name.replace(':', '-')}.js`
}

function copy(path: string): void {
  const target = join(folder, path)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(join(ROOT, path), target, { recursive: true, filter: (file) => !file.endsWith(STAMP_NAME) })
}

function put(path: string, content: string | Uint8Array): void {
  const target = join(folder, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, content)
}

function readJson<Content>(path: string): Content {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Content
}

function writeJson(path: string, content: object): void {
  put(path, `${JSON.stringify(content, null, 2)}\n`)
}

function run(script: string, ...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts', script), ...args], { stdio: 'inherit' })
  if (status !== 0) fail(`scripts/${script} failed.`)
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
