import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { parseSource, type Import, type ParsedSource } from './parse-source.ts'

/**
 * A TypeScript or JavaScript file with everything that the rules need. Paths are relative to the root and contain
 * slashes.
 */
export interface Module extends ParsedSource {
  readonly path: string
  readonly text: string
  readonly imports: readonly ResolvedImport[]
  readonly isTest: boolean
}

export interface ResolvedImport extends Import {
  /** The project's file that is imported. Null for a package or a Node module. */
  readonly target: string | null
  readonly line: number
}

export interface SourceTree {
  readonly modules: readonly Module[]
  /** All text files of the project, including the modules. */
  readonly texts: readonly { readonly path: string; readonly text: string }[]
}

const MODULE_PATTERN = /\.[cm]?[jt]sx?$/
const TEXT_PATTERN = /(?:\.(?:[cm]?[jt]sx?|json|txt|svg|toml|sql|sol|md|yml|yaml|html|css|sh)|\/run|^[^.]+|\.\w+rc)$/
const IGNORED_FOLDERS = new Set(['node_modules', '.git', '.bursar', 'coverage', 'dist'])
/** No rule applies to this file: it is generated, and may contain the URL of a private registry. */
const IGNORED_FILES = new Set(['package-lock.json'])
const WORKSPACE_PATTERN = /^@bursar\/(?<workspace>\w+)\/(?<path>.+)$/

/** Reads all source files below `root`. */
export function readSourceTree(root: string): SourceTree {
  const texts = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => IGNORED_FOLDERS.has(part)))
    .filter((path) => TEXT_PATTERN.test(path) && !IGNORED_FILES.has(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  return createSourceTree(Object.fromEntries(texts.map(({ path, text }) => [path, text])))
}

/** Makes a tree from a text for each path. The tests of the rules use it. */
export function createSourceTree(files: Readonly<Record<string, string>>): SourceTree {
  const texts = Object.entries(files).map(([path, text]) => ({ path, text }))
  const modules = texts.filter(({ path }) => MODULE_PATTERN.test(path))
  return { texts, modules: modules.map(({ path, text }) => readModule(path, text)) }
}

function readModule(path: string, text: string): Module {
  const source = parseSource(path, text)
  const imports = source.imports.map((found) => ({
    ...found,
    target: resolveTarget(path, found.specifier),
    line: lineAt(text, found.start),
  }))
  return { path, text, ...source, imports, isTest: isTestPath(path) }
}

/** Returns whether the file is a test, or is used only by tests and benchmarks. */
function isTestPath(path: string): boolean {
  return /\.test\.tsx?$|^(?:test|bench)\/|^\w+\/test\//.test(path)
}

function resolveTarget(importer: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return posix.normalize(posix.join(posix.dirname(importer), specifier))
  const groups = WORKSPACE_PATTERN.exec(specifier)?.groups
  return groups === undefined ? null : `${groups['workspace']}/${groups['path']}`
}

/** Returns the number of the line at an offset. The first line is 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
