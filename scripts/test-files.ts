import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ALL_TESTS = [
  '{server,sandbox,dashboard,signer,sdk,cli}/{src,test}/**/*.test.ts',
  '{test,scripts,bench}/**/*.test.ts',
]

/**
 * Finds the test files that the arguments select, relative to the root. An argument is a file, a folder or a glob.
 * Without arguments, all tests are selected. Also returns the first argument that selects no file: without this check,
 * a run without tests would pass.
 */
export function findTestFiles(
  root: string,
  patterns: readonly string[],
): { readonly files: readonly string[]; readonly unmatched: string | undefined } {
  const found = (patterns.length === 0 ? ALL_TESTS : patterns).map((pattern) => {
    const isFolder = statSync(join(root, pattern), { throwIfNoEntry: false })?.isDirectory() ?? false
    const matches = globSync(isFolder ? join(pattern, '**/*.test.ts') : pattern, { cwd: root })
    // A glob such as `server/**` also matches folders and other sources.
    return { pattern, files: matches.filter((path) => path.endsWith('.test.ts')) }
  })
  return {
    files: [...new Set(found.flatMap(({ files }) => files))].toSorted(),
    unmatched: found.find(({ files }) => files.length === 0)?.pattern,
  }
}
