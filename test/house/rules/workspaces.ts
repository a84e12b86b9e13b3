import type { Rule } from '../rule.ts'

/**
 * The folders of the sandbox that may import files of the server. The rest of the sandbox starts the server as a
 * program.
 */
const SERVER_DRIVERS = ['sandbox/src/control/']
/**
 * The folder with the schemas of the dashboard's endpoints. The dashboard may import only types from it, which do not
 * exist at run time.
 */
const CONTRACT = 'server/src/console/contract/'

export const WORKSPACE_BORDERS: Rule = {
  name: 'the server, the signer page, the client and the command line import no other workspace, the dashboard only types of its contract, the sandbox only in its control API',
  check: (tree) =>
    tree.modules
      .filter((module) => !module.isTest)
      .flatMap(({ path, imports }) =>
        imports.flatMap(({ target, line, kind, typeOnly }) => {
          // An import of the kind `url` names a program to start. The sandbox starts the server in this way.
          if (target === null || kind === 'url') return []
          const message = findFault(path, { target, typeOnly })
          return message === null ? [] : [{ path, line, message }]
        }),
      ),
}

function findFault(path: string, { target, typeOnly }: { target: string; typeOnly: boolean }): string | null {
  if (path.startsWith('server/') && !target.startsWith('server/')) {
    return `the server may not import ${target}: it ships alone; move what it needs into server/src`
  }
  if (path.startsWith('signer/') && !target.startsWith('signer/')) {
    return `the signer page may not import ${target}: owners must be able to read everything that it publishes`
  }
  if (path.startsWith('sdk/src/') && !target.startsWith('sdk/src/')) {
    return `the client may not import ${target}: it is published alone; move what it needs into sdk/src`
  }
  if (path.startsWith('cli/src/') && !/^cli\/(?:src\/|package\.json$)/.test(target)) {
    return `the command line may not import ${target}: it is published alone, and calls the service with the client`
  }
  if (path.startsWith('dashboard/') && /^(?:server|sandbox)\//.test(target)) {
    if (target.startsWith(CONTRACT) && typeOnly) return null
    return `the dashboard may import only types (\`import type\`) from ${CONTRACT}, not ${target}: nothing of the server belongs in the browser`
  }
  if (!path.startsWith('sandbox/') || !target.startsWith('server/')) return null
  if (SERVER_DRIVERS.some((driver) => path.startsWith(driver))) return null
  return `only ${SERVER_DRIVERS.join(', ')} may import the server's inside (${target}): start the server as a program, or ask the control API`
}
