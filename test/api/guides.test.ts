import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { ADMISSION_REFUSAL_CODES } from '../../server/src/domain/payment-requests/admission-refusal.ts'
import { TOOL_CODES } from '../../server/src/mcp/tool-failure.ts'
import { TOOLS } from '../../server/src/mcp/tools/all-tools.ts'
import { PROBLEM_CODES } from '../../server/src/values/problem.ts'
import { readBody, send, type Answer } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const TYPES: Readonly<Record<string, string>> = {
  '/llms.txt': 'text/plain; charset=utf-8',
  '/SKILL.md': 'text/markdown; charset=utf-8',
  '/server.json': 'application/json; charset=utf-8',
}

/** A message that asks the MCP server for the list of its tools. */
const LIST_TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
const MESSAGE = ['content-type', 'application/json', 'accept', 'application/json, text/event-stream']
/** Names in the skill that look like names of tools, but are names of arguments and members of results. */
const ARGUMENTS = new Set(['in_progress', 'max_amount_usdc', 'amount_usdc', 'purchase_id'])

describe('what the service tells agents and their hosts about itself (D71a)', () => {
  let given: TestService
  let texts: Readonly<Record<string, string>>
  let paths: Readonly<Record<string, Record<string, { requestBody?: unknown }>>>
  before(async () => {
    given = await openTestService()
    texts = Object.fromEntries(
      await Promise.all(Object.keys(TYPES).map(async (path) => [path, (await given.call({ path })).text] as const)),
    )
    paths = readBody<{ paths: typeof paths }>(await given.call({ path: '/openapi.json' }), 200).paths
  })
  after(() => given.close())

  for (const [path, type] of Object.entries(TYPES)) {
    test(`${path} is public, the same on both hosts, and has no place that was not filled in`, async () => {
      const answers: Answer[] = await Promise.all(
        [given.config.baseUrl, given.config.authUrl].map((origin) =>
          send(given.url, { path, host: new URL(origin).host, headers: ['accept', 'text/html'] }),
        ),
      )
      for (const { status, headers, text } of answers) {
        assert.equal(status, 200)
        assert.equal(headers['content-type'], type)
        assert.equal(headers['access-control-allow-origin'], '*')
        assert.equal(headers['cache-control'], 'public, max-age=3600')
        assert.equal(text, texts[path])
        assert.doesNotMatch(text, /\{\{|undefined/)
      }
    })
  }

  test('each address that a text names is one of the service, and exists', async () => {
    const { baseUrl, authUrl } = given.config
    const named = Object.values(texts).flatMap((text) => text.match(/https?:\/\/[^\s)"'`|]+/g) ?? [])
    assert.ok(named.length > 10)
    for (const address of new Set(named)) {
      if (address.startsWith('https://static.modelcontextprotocol.io/')) continue
      if (address === 'https://{host}/mcp') continue
      const { origin, host, pathname } = new URL(address.replace(/\.$/, ''))
      assert.ok(origin === baseUrl || origin === authUrl, address)
      if (pathname === '/mcp') {
        assert.equal(
          (await send(given.url, { method: 'POST', path: pathname, host, headers: MESSAGE, body: LIST_TOOLS })).status,
          401,
        )
        continue
      }
      const route = Object.keys(paths).find((path) =>
        new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
      )
      if (route !== undefined) continue
      const { status } = await send(given.url, { path: pathname, host, headers: ['accept', 'text/html'] })
      assert.ok(status === 200, `${address}: ${status}`)
    }
  })

  test('the overview says what an OAuth client must send besides what the protocol requires', () => {
    assert.match(texts['/llms.txt'] ?? '', /needs PKCE \(`S256`\) and a `state`/)
  })

  test('the tools that the skill names are those of the MCP server', () => {
    const [, section = ''] = /## With MCP\n([\s\S]*?)\n## /.exec(texts['/SKILL.md'] ?? '') ?? []
    const named = [...section.matchAll(/`([a-z]+_[a-z]+)`/g)].map(([, name]) => name)
    const tools = new Set<string | undefined>(TOOLS.map(({ name }) => name))
    assert.ok(named.includes('send_payment'))
    assert.deepEqual(
      named.filter((name) => !tools.has(name) && !ARGUMENTS.has(name ?? '')),
      [],
    )
  })

  test('the commands of the skill are requests that the contract describes, with its fields', () => {
    const skill = texts['/SKILL.md'] ?? ''
    const scripts = [...skill.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, script = '']) => script)
    assert.equal(scripts.length, 5)
    for (const script of scripts) {
      const words = printArguments(script)
      const address = words.find((word) => word.startsWith(given.config.baseUrl)) ?? ''
      const body = words[words.indexOf('-d') + 1]
      const method = words.includes('-d') ? 'post' : 'get'
      const path = new URL(address).pathname.replace('PAYMENT_ID', '{id}')
      assert.ok(paths[path]?.[method] !== undefined, `${method} ${path}`)
      assert.ok(words.includes('Authorization: Bearer svc_test_1'))
      if (method === 'get') continue
      const fields = JSON.stringify(paths[path][method]?.requestBody)
      for (const name of Object.keys(JSON.parse(body ?? '') as object)) assert.ok(fields.includes(`"${name}"`), name)
    }
  })

  test('the skill has each error with which a payment can be rejected, and each one exists', () => {
    const skill = texts['/SKILL.md'] ?? ''
    const cells = skill.split('\n').filter((line) => line.startsWith('| `'))
    const codes = cells.flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, code]) => code))
    assert.ok(codes.length > 5)
    const possible: readonly string[] = [...ADMISSION_REFUSAL_CODES, ...TOOL_CODES, 'amount_invalid', 'address_invalid']
    for (const code of codes) assert.ok(code !== undefined && (code in PROBLEM_CODES || possible.includes(code)), code)
    assert.deepEqual(
      possible.filter((code) => !codes.includes(code)),
      [],
    )
  })

  test('the skill begins with a name and a description that agents accept', () => {
    const [, head = ''] = (texts['/SKILL.md'] ?? '').split('---\n')
    const members = Object.fromEntries(
      head
        .trim()
        .split('\n')
        .map((line) => line.split(/: (.*)/)),
    ) as Record<string, string>
    assert.deepEqual(Object.keys(members), ['name', 'description'])
    assert.match(members['name'] ?? '', /^[a-z0-9-]{1,64}$/)
    assert.ok((members['description'] ?? '').length <= 1_024)
    // YAML would read a colon with a space as another member.
    assert.doesNotMatch(members['description'] ?? '', /: | #/)
  })
})

/** Runs a script with a `curl` that only prints its arguments. */
function printArguments(script: string): string[] {
  const program = `curl() { printf '%s\\0' "$@"; }\n${script}`
  const printed = execFileSync('sh', ['-c', program], { env: { BURSAR_KEY: 'svc_test_1' }, encoding: 'utf8' })
  return printed.split('\0').slice(0, -1)
}
