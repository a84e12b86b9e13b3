import { ENDPOINTS } from '../../../../sandbox/src/control/endpoints.ts'
import { CONTROL_GUIDE } from './control-guide.ts'
import { tableRow } from './describe-schema.ts'

/** Writes the page with every path of the sandbox's control API, from the list that the control API itself returns. */
export function writeControlReference() {
  const unknown = Object.keys(CONTROL_GUIDE).filter((endpoint) => !Object.hasOwn(ENDPOINTS, endpoint))
  if (unknown.length > 0) throw new Error(`the control API has no ${unknown.join(', ')}`)
  return {
    path: 'reference/control-api',
    title: "The sandbox's control API",
    description: 'Every path with which tests act as the owner, move the clock, and cause faults in the sandbox.',
    markdown: [
      'The control API exists only in the [sandbox](../sandbox.md). It acts as the owner, as the person who approves an application, and as the faucet. It moves the clock, and makes the chains, the enclave and the seller fail. It needs no credential, because it listens on loopback only and there is no real money.\n',
      'This command reads its address, which the commands below use:\n\n```bash\neval "$(npm run -s sandbox:env)"\n```\n',
      'Bodies are JSON. A `?` in a name marks an optional member. Where two names are joined by `|`, send exactly one of them. Errors have the same form as [those of the API](errors.md).\n',
      ...Object.entries(ENDPOINTS).map(([endpoint, fields]) => writeEndpoint(endpoint, fields)),
    ].join('\n'),
  }
}

function writeEndpoint(endpoint: string, fields: Readonly<Record<string, string>>): string {
  const guide = CONTROL_GUIDE[endpoint]
  if (guide === undefined) throw new Error(`docs/site/src/reference/control-guide.ts says nothing about ${endpoint}`)
  const rows = Object.entries(fields).map(([name, type]) => tableRow([`\`${name}\``, type]))
  const table = rows.length === 0 ? '' : `| member of the body | value |\n| --- | --- |\n${rows.join('\n')}\n`
  return `## ${endpoint}\n\n${guide.meaning}\n\n${table}\n\`\`\`bash\n${guide.example.trim()}\n\`\`\`\n`
}
