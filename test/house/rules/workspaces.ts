import type { Rule } from '../rule.ts'

/** The places in the sandbox that drive the server's own operations; everything else knows it as a program. */
const SERVER_DRIVERS = ['sandbox/src/control/']

export const WORKSPACE_BORDERS: Rule = {
  name: 'the server knows no other workspace, and only the control API of the sandbox knows its inside',
  check: (tree) =>
    tree.modules
      .filter((module) => !module.isTest)
      .flatMap(({ path, imports }) =>
        imports.flatMap(({ target, line, kind }) => {
          // A URL names a program to start, and that is how the sandbox shall use the server.
          if (target === null || kind === 'url') return []
          const message = findFault(path, target)
          return message === null ? [] : [{ path, line, message }]
        }),
      ),
}

function findFault(path: string, target: string): string | null {
  if (path.startsWith('server/') && !target.startsWith('server/')) {
    return `the server may not import ${target}: it ships alone; move what it needs into server/src`
  }
  if (!path.startsWith('sandbox/') || !target.startsWith('server/')) return null
  if (SERVER_DRIVERS.some((driver) => path.startsWith(driver))) return null
  return `only ${SERVER_DRIVERS.join(', ')} may import the server's inside (${target}): start the server as a program, or ask the control API`
}
