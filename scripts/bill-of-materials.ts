import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package-lock.json of npm, version 3: each package by its folder. */
export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  /** The hash of the package's archive, as a subresource integrity value: the algorithm, `-`, and Base64. */
  readonly integrity?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface InstalledPackage {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly integrity: string
  /** Relative to the project's root. */
  readonly folder: string
}

const MODULES = 'node_modules/'
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i

/**
 * Lists the packages that some workspaces need at run time, directly or through other packages, sorted by name and
 * version. They are found like Node finds them: in the `node_modules` of each folder above. Peer dependencies are left
 * out: a package that is needed is also a dependency of the workspace.
 */
export function listPackages({ packages }: LockFile, workspaces: readonly string[]): readonly InstalledPackage[] {
  const found = new Map<string, InstalledPackage>()
  const waiting = [...workspaces]
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { dependencies, optionalDependencies } = packages[folder] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const at = resolve(packages, folder, name)
      const { version, license = 'UNKNOWN', integrity } = packages[at ?? ''] ?? {}
      // An optional package may be for another kind of machine.
      if (at === null || found.has(at) || version === undefined || integrity === undefined) continue
      found.set(at, { name, version, license, integrity, folder: at })
      waiting.push(at)
    }
  }
  return [...found.values()].toSorted((one, other) => (toKey(one) < toKey(other) ? -1 : 1))
}

function resolve(packages: LockFile['packages'], folder: string, name: string): string | null {
  for (let above = folder; ; above = above.slice(0, Math.max(above.lastIndexOf('/'), 0))) {
    const at = `${above === '' ? '' : `${above}/`}${MODULES}${name}`
    if (packages[at] !== undefined) return at
    if (above === '') return null
  }
}

/** Returns a bill of materials in the format CycloneDX 1.6 (ECMA-424). */
export function toBillOfMaterials(
  packages: readonly InstalledPackage[],
  { version, license }: { version: string; license: string },
): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', name: 'bursar', version, licenses: [{ expression: license }] } },
    components: packages.map(({ name, version: installed, license: terms, integrity }) => {
      const [algorithm = '', hash = ''] = integrity.split('-')
      return {
        type: 'library',
        name,
        version: installed,
        purl: `pkg:npm/${name.replace('@', '%40')}@${installed}`,
        licenses: [{ expression: terms }],
        hashes: [
          { alg: algorithm.replace('sha', 'SHA-').toUpperCase(), content: Buffer.from(hash, 'base64').toString('hex') },
        ],
      }
    }),
  }
}

/** Returns the license texts of the packages, as their authors ask whoever passes their code on. */
export function readLicenses(packages: readonly InstalledPackage[], root: string): string {
  const texts = packages.map(({ name, version, license, folder }) => {
    const path = join(root, folder)
    const names = existsSync(path) ? readdirSync(path).filter((file) => LICENSE_FILE.test(file)) : []
    return [`${name} ${version} (${license})`, ...names.map((file) => readFileSync(join(path, file), 'utf8').trim())]
  })
  return `${texts.map((parts) => parts.join('\n\n')).join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

function toKey({ name, version }: InstalledPackage): string {
  return `${name}@${version}`
}
