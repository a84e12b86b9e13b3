import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InvalidTarget } from './oauth-error.ts'
import { parseResource } from './resource.ts'

const ORIGINS = { baseUrl: 'https://api.example.com', authUrl: 'http://localhost:4101' }
const parse = (...resources: string[]) =>
  parseResource(new Map(resources.length === 0 ? [] : [['resource', resources]]), ORIGINS)

/** A resource indicator (RFC 8707, section 2). */
describe('a resource', () => {
  const ours: readonly (readonly [string, string])[] = [
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['https://api.example.com/mcp', 'https://api.example.com/mcp'],
    ['https://api.example.com/mcp/', 'https://api.example.com/mcp'],
    ['HTTPS://API.Example.com/mcp', 'https://api.example.com/mcp'],
    ['http://localhost:4101', 'http://localhost:4101'],
    ['http://localhost:4101/mcp', 'http://localhost:4101/mcp'],
  ]
  for (const [text, canonical] of ours) {
    test(`of the service is stored in canonical form (G5): ${text}`, () => assert.equal(parse(text), canonical))
  }

  const others = [
    'https://api.example.com/MCP',
    'https://api.example.com//',
    'https://api.example.com/v1',
    'https://api.example.com/mcp?x=1',
    'https://api.example.com#',
    'https://api.example.com/#x',
    'https://api.example.com:443',
    'http://api.example.com',
    'https://user@api.example.com',
    'https://api.example.com.evil.example',
    'https://evil.example',
    'api.example.com',
    '/mcp',
    'ftp://api.example.com',
    'urn:ietf:rfc:8707',
    ' https://api.example.com',
    '\\',
  ]
  for (const text of others) {
    test(`that the service does not have is invalid_target (G6): ${text}`, () =>
      assert.throws(() => parse(text), InvalidTarget))
  }

  test('may be missing; if several are sent, the first is stored', () => {
    assert.equal(parse(), null)
    assert.equal(parse('https://api.example.com/mcp/', 'https://api.example.com'), 'https://api.example.com/mcp')
    assert.throws(() => parse('https://api.example.com', 'https://evil.example'), InvalidTarget)
    assert.throws(() => parse('https://evil.example', 'https://api.example.com'), InvalidTarget)
  })
})
