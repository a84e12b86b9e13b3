import type { Rule } from '../rule.ts'

interface MachineName {
  readonly pattern: RegExp
  readonly instead: string
}

/** The patterns are written so that they do not match this file. */
const MACHINE_NAMES: readonly MachineName[] = [
  { pattern: /(?<![\w.}\\-])\/work\b(?=\/)/, instead: 'name files relative to the project' },
  { pattern: /(?<![\w.}\\-])\/tmp\b/, instead: 'use os.tmpdir()' },
  { pattern: /(?<![\w.}\\-])\/(?:Users|home)\/[a-z]/, instead: 'use os.homedir(), or a path relative to the project' },
  {
    pattern: /\b(?:registry|npm)\.[a-z]+\.(?:org|com)\b|\bnpm\.pkg\b|\bregistry\s*=\s*http/,
    instead: "leave the registry to the reader's npm settings",
  },
]

export const NO_MACHINE_NAMES: Rule = {
  name: "no file names a developer's machine or a package registry",
  check: (tree) =>
    tree.texts.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) =>
        MACHINE_NAMES.flatMap(({ pattern, instead }) => {
          const match = pattern.exec(line)
          return match === null
            ? []
            : [{ path, line: index + 1, message: `\`${match[0]}\` is of one machine: ${instead}` }]
        }),
      ),
    ),
}
