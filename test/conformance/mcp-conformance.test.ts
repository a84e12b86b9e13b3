import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { openSharedAgentHost, type AgentHost } from '../support/sandbox/agent-host.ts'
import { startBearerProxy, type BearerProxy } from '../support/sandbox/bearer-proxy.ts'
import { registerClient } from '../support/sandbox/oauth-client.ts'
import { findFreePort } from '../support/free-port.ts'

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')
const PROGRAM = join(dirname(PACKAGE), 'dist', 'index.js')
const RUN_MS_MAX = 60_000

interface Check {
  readonly id: string
  readonly status: string
}

/** The scenarios that every MCP server must pass, with the versions of the protocol in which they exist. */
const SERVER_SCENARIOS: readonly (readonly [string, readonly string[]])[] = [
  ['server-initialize', ['2025-06-18', '2025-11-25']],
  ['ping', ['2025-06-18', '2025-11-25']],
  ['tools-list', ['2025-06-18', '2025-11-25', '2026-07-28']],
  ['dns-rebinding-protection', ['2025-11-25', '2026-07-28']],
  ['http-header-validation', ['2026-07-28']],
  ['input-required-result-unsupported-methods', ['2026-07-28']],
  ['server-stateless', ['2026-07-28']],
  ['caching', ['2026-07-28']],
]

/**
 * The checks that must fail. All other checks must pass. The package has more scenarios, which are not run here: they
 * call tools, prompts and resources that exist only in its own example server.
 */
const EXPECTED_FAILURES: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': [
    // Cannot be tested without the example server's tools `test_missing_capability`, `test_streaming_elicitation` and
    // `test_logging_tool`. No tool of ours needs a capability of the client, asks it for input, or sends log messages.
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
    // There is nothing to subscribe to: the server declares no `listChanged`, so `subscriptions/listen` is an error.
    'sep-2575-server-sends-subscription-ack',
    'sep-2575-server-tags-subscription-id',
  ],
  caching: [
    // The server has no prompts and no resources, and does not declare these capabilities.
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ],
}

/**
 * `@modelcontextprotocol/conformance`, the published test suite, without changes. The sandbox's control API acts as the
 * person who consents.
 */
describe('@modelcontextprotocol/conformance', () => {
  let host: AgentHost
  let output: string
  before(async () => {
    host = await openSharedAgentHost()
    output = await mkdtemp(join(tmpdir(), 'bursar-conformance-'))
  })
  after(async () => {
    await rm(output, { recursive: true, force: true })
  })

  test('every check of every scenario for authorization servers passes', async () => {
    const port = await findFreePort()
    const clientId = await registerClient(host, { redirect_uris: [`http://127.0.0.1:${port}/callback`] })
    const folder = join(output, 'authorization')
    let opened: Promise<void> | undefined
    const { code, text } = await runSuite(
      [
        'authorization',
        ...['--url', host.authUrl],
        ...['--client-id', clientId],
        ...['--resource', `${host.baseUrl}/mcp`],
        ...['-p', String(port), '-o', folder],
      ],
      (written) => {
        const url = new RegExp(`${host.authUrl}/oauth/authorize\\?\\S+(?=\\s)`).exec(written)?.[0]
        // The test acts as the browser: it approves as the person, and follows the redirect to the callback of the test
        // suite.
        if (url !== undefined) opened ??= host.consent(new URL(url)).then(async (to) => void (await fetchOnce(to)))
      },
    )
    assert.ok(opened !== undefined, text)
    await opened
    assert.equal(code, 0, text)
    const checks = await readChecks(folder)
    assert.ok(checks.length > 0, text)
    assert.deepEqual(listFailures(checks), [])
  })

  for (const [scenario, versions] of SERVER_SCENARIOS) {
    for (const version of versions) {
      test(`${scenario} in version ${version}`, async () => {
        const folder = join(output, scenario, version)
        const proxy = await openProxy()
        const chosen = ['--url', `${proxy.origin}/mcp`, '--scenario', scenario, '--spec-version', version]
        const { text } = await runSuite(['server', ...chosen, '-o', folder])
        await proxy.close()
        const checks = await readChecks(folder)
        assert.ok(
          checks.some(({ status }) => status === 'SUCCESS'),
          text,
        )
        assert.deepEqual(listFailures(checks), EXPECTED_FAILURES[scenario] ?? [], text)
      })
    }
  }

  /** Opens a proxy that adds a key, because the suite cannot send one. Each scenario's key has its own rate limit. */
  async function openProxy(): Promise<BearerProxy> {
    const { key } = await host.control(`/workspaces/${host.workspace.slug}/keys`, { mode: 'test' })
    return await startBearerProxy(new URL(host.baseUrl), key.secret)
  }
})

/**
 * Runs a program of the test suite until it exits. `onOutput` receives everything that the program has written so far.
 */
async function runSuite(
  args: readonly string[],
  onOutput: (text: string) => void = () => undefined,
): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      onOutput(text)
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, text }
}

async function readChecks(folder: string): Promise<Check[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('checks.json'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  return texts.flatMap((text) => JSON.parse(text) as Check[])
}

function listFailures(checks: readonly Check[]): string[] {
  return checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id)
}
