import type { Rule } from '../rule.ts'

export type Files = Readonly<Record<string, string>>

/** Small trees of files that break or follow a rule. `at` lists all expected violations of a tree as `path:line`. */
export interface Sample {
  readonly rule: Rule
  readonly fails: readonly { readonly files: Files; readonly at: readonly string[] }[]
  readonly passes: readonly Files[]
}

/** Makes a tree with one file. */
export function file(path: string, text: string): Files {
  return { [path]: text }
}

/** Makes an entry of `fails`: a tree with one file, whose second line breaks the rule. */
export function broken(path: string, text: string): { files: Files; at: string[] } {
  return { files: file(path, `\n${text}`), at: [`${path}:2`] }
}

export function importing(path: string): string {
  return `import { a } from '${path}'`
}

export const DOMAIN = 'server/src/domain'
