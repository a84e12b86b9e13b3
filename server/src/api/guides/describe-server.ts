import type { Origins } from '../../http/hosts.ts'
import { VERSION } from '../../lib/version.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/**
 * Returns the entry of this service for an MCP registry (`server.json`, schema 2025-12-11). In the entry, the host is a
 * variable, because everyone hosts Bursar themselves. If this service uses https, its host is the variable's default.
 */
export function describeServer({ baseUrl }: Pick<Origins, 'baseUrl'>) {
  const { protocol, host, hostname } = new URL(baseUrl)
  return {
    $schema: SCHEMA,
    name: `${reverse(hostname)}/bursar`,
    title: 'Bursar',
    description: 'Lets agents pay in USDC within limits that the owner of the money has signed.',
    version: VERSION,
    websiteUrl: `${baseUrl}/llms.txt`,
    remotes: [
      {
        type: 'streamable-http',
        url: 'https://{host}/mcp',
        variables: {
          host: {
            description: 'The host of the Bursar installation, with its port if it is not 443.',
            isRequired: true,
            placeholder: 'pay.example.com',
            ...(protocol === 'https:' ? { default: host } : {}),
          },
        },
      },
    ],
  }
}

/** Returns the namespace that a registry gives to the owner of a host name: the name's labels in reverse order. */
function reverse(hostname: string): string {
  return hostname
    .replaceAll(/[^a-zA-Z0-9.-]/g, '-')
    .split('.')
    .toReversed()
    .join('.')
}
