import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { cursorInstallLink, listAgentHosts } from './agent-hosts.ts'

const URLS = ['https://pay.example.com/mcp', 'http://localhost:4100/mcp', "https://pay.example.com/a'b$(x)/mcp"]

for (const url of URLS) {
  test(`the commands give their programs ${url} unchanged`, () => {
    assert.deepEqual(run(codeOf('claude-code', url)), [['claude', 'mcp', 'add', '--transport', 'http', 'bursar', url]])
    assert.deepEqual(run(keyCodeOf('claude-code', url)), [
      ['claude', 'mcp', 'add', '--transport', 'http', 'bursar', url, '--header', 'Authorization: Bearer svc_test_1'],
    ])
    assert.deepEqual(run(codeOf('codex', url)), [
      ['codex', 'mcp', 'add', 'bursar', '--url', url],
      ['codex', 'mcp', 'login', 'bursar'],
    ])
    const [[, flag, server = ''] = []] = run(codeOf('vs-code', url))
    assert.equal(flag, '--add-mcp')
    assert.deepEqual(JSON.parse(server), { name: 'bursar', type: 'http', url })
  })

  test(`the configuration files contain ${url} unchanged`, () => {
    assert.deepEqual(JSON.parse(codeOf('cursor', url)), { mcpServers: { bursar: { url } } })
    assert.deepEqual(JSON.parse(codeOf('vs-code', url, 1)), { servers: { bursar: { type: 'http', url } } })
    const [table, line = ''] = codeOf('codex', url, 1).split('\n')
    assert.equal(table, '[mcp_servers.bursar]')
    assert.equal(JSON.parse(line.replace('url = ', '')), url)
    const link = new URL(cursorInstallLink(url))
    assert.equal(link.searchParams.get('name'), 'bursar')
    assert.deepEqual(JSON.parse(atob(link.searchParams.get('config') ?? '')), { url })
  })
}

test('no file contains a key: each one names where the key comes from', () => {
  const url = 'https://pay.example.com/mcp'
  assert.match(keyCodeOf('codex', url), /\nbearer_token_env_var = "BURSAR_KEY"$/)
  assert.equal(JSON.parse(keyCodeOf('cursor', url)).mcpServers.bursar.headers.Authorization, 'Bearer ${env:BURSAR_KEY}')
  const code = JSON.parse(keyCodeOf('vs-code', url))
  assert.equal(code.servers.bursar.headers.Authorization, `Bearer \${input:${code.inputs[0].id}}`)
})

test('the hosts that call the service from their own servers accept no key', () => {
  const hosted = listAgentHosts('https://pay.example.com/mcp').filter(({ hostedBy }) => hostedBy !== null)
  assert.deepEqual(
    hosted.map(({ name, withKey }) => [name, withKey]),
    [
      ['Claude', undefined],
      ['ChatGPT', undefined],
    ],
  )
})

function hostOf(id: string, url: string) {
  const host = listAgentHosts(url).find((one) => one.id === id)
  if (host === undefined) throw new Error(`there is no host ${id}`)
  return host
}

function codeOf(id: string, url: string, index = 0): string {
  return hostOf(id, url).code[index]?.code ?? ''
}

function keyCodeOf(id: string, url: string): string {
  return hostOf(id, url).withKey?.code.code ?? ''
}

/** Runs a script with programs that only print their arguments. Returns the words of each command. */
function run(script: string): string[][] {
  const programs = ['claude', 'codex', 'code']
    .map((name) => `${name}() { printf '%s\\0' ${name} "$@"; printf '\\n'; }`)
    .join('\n')
  const printed = execFileSync('sh', ['-c', `${programs}\n${script}`], {
    env: { BURSAR_KEY: 'svc_test_1' },
    encoding: 'utf8',
  })
  return printed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\0').slice(0, -1))
}
