import type { Rule } from '../rule.ts'
import type { SourceTree } from '../source-tree.ts'

/**
 * The folders of the sandbox that may import files of the server. The rest of the sandbox starts the server as a
 * program.
 */
const SERVER_DRIVERS = ['sandbox/src/control/']
/**
 * The folder with the schemas of the dashboard's endpoints. The dashboard may import only types from it, which do not
 * exist at run time, because the schemas import a package.
 */
const CONTRACT = 'server/src/console/contract/'
/** The dashboard may import values from files of these folders that import nothing at run time, such as a limit. */
const VALUES = /^server\/src\/(?:values|domain)\//

/** The command line verifies evidence with the same files as the signer page. They are bundled into it. */
const VERIFIER = /^signer\/(?:src\/evidence|program)\//

export const WORKSPACE_BORDERS: Rule = {
  name: 'the server, the signer page and the client import no other workspace, the command line only the verifier of the signer page, the dashboard only types of its contract and values of files that import nothing, the sandbox only in its control API',
  check: (tree) => {
    const shared = listSharedFiles(tree)
    return tree.modules
      .filter((module) => !module.isTest)
      .flatMap(({ path, imports }) =>
        imports.flatMap(({ target, line, kind, typeOnly }) => {
          // An import of the kind `url` names a program to start. The sandbox starts the server in this way.
          if (target === null || kind === 'url') return []
          const message = findFault(path, { target, typeOnly, isShared: shared.has(target) })
          return message === null ? [] : [{ path, line, message }]
        }),
      )
  },
}

/** Lists the files of the server whose values the dashboard may import. */
function listSharedFiles(tree: SourceTree): ReadonlySet<string> {
  const isShared = ({ path, imports }: SourceTree['modules'][number]) =>
    VALUES.test(path) && imports.every(({ typeOnly }) => typeOnly)
  return new Set(tree.modules.filter(isShared).map(({ path }) => path))
}

interface Target {
  readonly target: string
  readonly typeOnly: boolean
  readonly isShared: boolean
}

function findFault(path: string, { target, typeOnly, isShared }: Target): string | null {
  if (path.startsWith('server/') && !target.startsWith('server/')) {
    return `the server may not import ${target}: it ships alone; move what it needs into server/src`
  }
  if (path.startsWith('signer/') && !target.startsWith('signer/')) {
    return `the signer page may not import ${target}: owners must be able to read everything that it publishes`
  }
  if (path.startsWith('sdk/src/') && !target.startsWith('sdk/src/')) {
    return `the client may not import ${target}: it is published alone; move what it needs into sdk/src`
  }
  if (path.startsWith('cli/src/') && !/^cli\/(?:src\/|package\.json$)/.test(target) && !VERIFIER.test(target)) {
    return `the command line may not import ${target}: it is published alone, and calls the service with the client`
  }
  if (path.startsWith('dashboard/') && /^(?:server|sandbox)\//.test(target)) {
    if (isShared || (target.startsWith(CONTRACT) && typeOnly)) return null
    return `the dashboard may import only types (\`import type\`) from ${CONTRACT}, and values of files in server/src/values and server/src/domain that import nothing at run time, not ${target}: nothing else of the server belongs in the browser`
  }
  if (!path.startsWith('sandbox/') || !target.startsWith('server/')) return null
  if (SERVER_DRIVERS.some((driver) => path.startsWith(driver))) return null
  return `only ${SERVER_DRIVERS.join(', ')} may import the server's inside (${target}): start the server as a program, or ask the control API`
}
