import { readFileSync } from 'node:fs'
import { allowCrossOrigin } from '../../http/cross-origin.ts'
import type { Origins } from '../../http/hosts.ts'
import { readDocsIndex } from '../../http/add-docs.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { describeServer } from './describe-server.ts'

const GUIDE_SECONDS = 60 * 60

/** The texts for agents, by their path: the file with the text, and its content type. */
const TEXTS = {
  '/llms.txt': ['llms.txt', 'text/plain; charset=utf-8'],
  '/SKILL.md': ['SKILL.md', 'text/markdown; charset=utf-8'],
} as const

/**
 * Serves what agents, and the programs that run them, read about this service: `/llms.txt`, a skill, and the entry for
 * an MCP registry (D71a). These files are at `BASE_URL` and at `AUTH_URL`, and need no credential. The addresses in the
 * files come from the configuration.
 */
export async function addGuides(http: HttpServer, options: Origins & { readonly docsDir: string }): Promise<void> {
  const docs = await readDocsIndex(options.docsDir)
  const guides = [
    ...Object.entries(TEXTS).map(([path, [file, type]]) => ({
      path,
      type,
      content: fillIn(
        read(file).replace('{{docs}}', () => docs),
        options,
      ),
    })),
    {
      path: '/server.json',
      type: 'application/json; charset=utf-8',
      content: `${JSON.stringify(describeServer(options), null, 2)}\n`,
    },
  ]
  await http.register(async (scope: HttpServer) => {
    allowCrossOrigin(scope)
    for (const { path, type, content } of guides) {
      scope.get(path, { schema: { hide: true } }, async (_request, reply) =>
        reply.headers({ 'Content-Type': type, 'Cache-Control': `public, max-age=${GUIDE_SECONDS}` }).send(content),
      )
    }
  })
}

function read(file: string): string {
  return readFileSync(new URL(file, import.meta.url), 'utf8')
}

/** Replaces `{{base_url}}` and `{{auth_url}}` in a text. */
function fillIn(text: string, { baseUrl, authUrl }: Origins): string {
  return text.replaceAll('{{base_url}}', baseUrl).replaceAll('{{auth_url}}', authUrl)
}
