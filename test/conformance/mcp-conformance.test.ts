import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openSharedAgentHost, type AgentHost } from '../support/sandbox/agent-host.ts'
import { findFreePort } from '../support/free-port.ts'

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const PROGRAM = join(dirname(PACKAGE), 'dist', 'index.js')
const RUN_MS_MAX = 60_000

interface Check {
  readonly id: string
  readonly status: string
}

/**
 * Runs `conformance authorization`, the published test of authorization servers, unchanged. The sandbox's person
 * consents.
 */
describe('@modelcontextprotocol/conformance, authorization mode', () => {
  let host: AgentHost
  let output: string
  before(async () => {
    host = await openSharedAgentHost()
    output = await mkdtemp(join(tmpdir(), 'bursar-conformance-'))
  })
  after(async () => {
    await rm(output, { recursive: true, force: true })
  })

  test('every check of every scenario passes', async () => {
    const port = await findFreePort()
    const clientId = await register(`http://127.0.0.1:${port}/callback`)
    const child = spawn(
      process.execPath,
      [
        PROGRAM,
        'authorization',
        ...['--url', host.authUrl],
        ...['--client-id', clientId],
        ...['--resource', `${host.baseUrl}/mcp`],
        ...['-p', String(port), '-o', output],
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX },
    )
    let text = ''
    let opened: Promise<void> | undefined
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const url = new RegExp(`${host.authUrl}/oauth/authorize\\?\\S+(?=\\s)`).exec(text)?.[0]
        // Acts as the browser: the person approves, and the browser follows the redirect to the program's own callback.
        if (url !== undefined) opened ??= host.consent(new URL(url)).then(async (to) => void (await fetch(to)))
      })
    }
    const [code] = (await once(child, 'close')) as [number | null]
    assert.ok(opened !== undefined, text)
    await opened
    assert.equal(code, 0, text)
    const checks = await readChecks(output)
    assert.ok(checks.length > 0, text)
    assert.deepEqual(
      checks.filter(({ status }) => status === 'FAILURE'),
      [],
    )
  })

  async function register(redirectUri: string): Promise<string> {
    const response = await fetch(new URL('/oauth/register', host.authUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'conformance', redirect_uris: [redirectUri] }),
    })
    assert.equal(response.status, 201)
    return ((await response.json()) as { client_id: string }).client_id
  }
})

async function readChecks(folder: string): Promise<Check[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('checks.json'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return texts.flatMap((text) => JSON.parse(text) as Check[])
}
