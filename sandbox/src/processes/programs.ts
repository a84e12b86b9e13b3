import { flushCompileCache, getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { hashSources, readStamp } from './hash-sources.ts'

export type ProgramName = keyof typeof PROGRAMS

export interface ProgramBuild {
  /** The program's source file. */
  readonly entry: URL
  /** The folder of the build, relative to the project's root. */
  readonly output: string
  /** What the program's build depends on: files and folders, relative to the project's root. */
  readonly sources: readonly string[]
}

/** The root of the project, with a separator at its end. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const SHARED_SOURCES = ['scripts/bundle-program.ts', 'sandbox/src/processes/hash-sources.ts', 'package-lock.json']
/** The name of a built program in the folder of its build. */
export const BUILT_NAME = 'main.js'

/**
 * The sandbox and the programs that it starts. `npm start` and `npm test` build each of them into one file. A built
 * program starts in a third of the time, and uses 40 MiB less memory, because Node loads one file instead of more than
 * two thousand modules.
 */
export const PROGRAMS = {
  sandbox: {
    entry: new URL('../main.ts', import.meta.url),
    output: 'sandbox/dist/sandbox',
    // Its control API contains code of the server.
    sources: ['sandbox/src', 'server/src', ...SHARED_SOURCES],
  },
  server: {
    entry: new URL('../../../server/src/main.ts', import.meta.url),
    output: 'server/dist',
    sources: ['server/src', ...SHARED_SOURCES],
  },
  enclave: {
    entry: new URL('../enclave/main.ts', import.meta.url),
    output: 'sandbox/dist/enclave',
    sources: ['sandbox/src', ...SHARED_SOURCES],
  },
  seller: {
    entry: new URL('../seller/main.ts', import.meta.url),
    output: 'sandbox/dist/seller',
    sources: ['sandbox/src', ...SHARED_SOURCES],
  },
} satisfies Record<string, ProgramBuild>

const found = new Map<ProgramName, URL>()

/**
 * Returns the file of a program: its build if the build was made from the current sources, and otherwise its source.
 * The sources are compared once in each process.
 */
export function findProgram(name: ProgramName): URL {
  const file = found.get(name) ?? chooseFile(ROOT, PROGRAMS[name])
  found.set(name, file)
  return file
}

/** Chooses between a program's build, which is below `root`, and the program's source. */
export function chooseFile(root: string, { entry, output, sources }: ProgramBuild): URL {
  const folder = join(root, output)
  const isFresh = readStamp(folder) === hashSources(root, sources)
  return isFresh ? pathToFileURL(join(folder, BUILT_NAME)) : entry
}

/**
 * Returns environment variables with which a program reuses the compiled code that this process has cached. It then
 * starts faster, and without loading the type stripper.
 */
export function shareCompileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  if (folder === undefined) return {}
  flushCompileCache()
  // Node adds a subfolder for its version to the folder that it is given, so the program gets the parent folder.
  return { NODE_COMPILE_CACHE: dirname(folder) }
}
