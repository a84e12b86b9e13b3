import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatWelcome } from './format-welcome.ts'
import type { SandboxFacts } from './state/sandbox-facts.ts'

const FACTS: SandboxFacts = {
  base_url: 'http://localhost:4100',
  auth_url: 'http://localhost:4101',
  control_url: 'http://localhost:4102',
  enclave_url: 'http://localhost:4103',
  seller_url: 'http://localhost:4107',
  chains: {
    test: { id: 1, rpc_url: 'http://localhost:4104', usdc: '0x1' },
    live: { id: 2, rpc_url: 'http://localhost:4105', usdc: '0x2' },
  },
  workspace: {
    slug: 'demo',
    keys: { test: 'svc_test_1', live: 'svc_live_1' },
    wallets: { test: '0x3', live: '0x4' },
    agent_id: 'demo-agent',
    invite_url: 'http://localhost:4101/invite/1',
  },
}

test('the welcome text shows the URL of the MCP server, and indents every line of the commands alike', () => {
  const text = formatWelcome(FACTS, '/data')
  assert.match(text, /^ {2}MCP server +http:\/\/localhost:4100\/mcp$/m)
  const commands = text.slice(text.indexOf('Try it:\n') + 'Try it:\n'.length, text.indexOf('\n\nCtrl-C')).split('\n')
  assert.ok(commands.length > 4)
  for (const line of commands) assert.match(line, /^ {2}\S/)
})
