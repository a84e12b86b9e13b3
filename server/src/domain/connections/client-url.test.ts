import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hostOfClientUrl, isClientUrl, looksLikeUrl } from './client-url.ts'

const ALLOWED: readonly string[] = [
  'https://claude.ai/oauth/mcp-oauth-client-metadata',
  'https://vscode.dev/oauth/client-metadata.json',
  'https://example.com/c',
  'https://example.com/c/',
  'https://example.com:443/c',
  'https://example.com:8443/c',
  'https://xn--bcher-kva.example/c',
  'https://example.com/%7Euser/a.b..c/...',
  `https://example.com/${'a'.repeat(2_028)}`,
]

const REFUSED: readonly (readonly [string, string])[] = [
  ['http', 'http://example.com/c'],
  ['an upper-case scheme', 'HTTPS://example.com/c'],
  ['no path', 'https://example.com'],
  ['only a slash as path', 'https://example.com/'],
  ['a fragment', 'https://example.com/c#x'],
  ['an empty fragment', 'https://example.com/c#'],
  ['a query', 'https://example.com/c?x=1'],
  ['an empty query', 'https://example.com/c?'],
  ['user information', 'https://u:p@example.com/c'],
  ['a user name', 'https://u@example.com/c'],
  ['dot segments', 'https://example.com/a/../c.json'],
  ['a single dot segment', 'https://example.com/./c.json'],
  ['dot segments at the end', 'https://example.com/a/..'],
  ['encoded dot segments', 'https://example.com/a/%2e%2e/c.json'],
  ['half-encoded dot segments', 'https://example.com/a/.%2E/c.json'],
  ['dot segments that are encoded twice', 'https://example.com/a/%252e%252e/c.json'],
  ['a single dot segment that is encoded twice', 'https://example.com/a/%252e/c.json'],
  ['dot segments behind an encoded slash', 'https://example.com/a%2f..%2fc.json'],
  ['dot segments behind an encoded backslash', 'https://example.com/a%5c..%5cc.json'],
  ['a backslash', 'https://example.com\\c'],
  ['an upper-case host', 'https://Example.com/c'],
  ['a host that a parser changes', 'https://0x7f.1/c'],
  ['an IPv6 address', 'https://[2001:db8::1]/c'],
  ['no host', 'https:///c'],
  ['one slash', 'https:/example.com/c'],
  ['port 0', 'https://example.com:0/c'],
  ['port 65536', 'https://example.com:65536/c'],
  ['an empty port', 'https://example.com:/c'],
  ['a space', 'https://example.com/c d'],
  ['a broken escape', 'https://example.com/%zz'],
  ['a character that is not ASCII', 'https://example.com/ü'],
  ['2,049 characters', `https://example.com/${'a'.repeat(2_029)}`],
]

describe("a client's URL", () => {
  for (const text of ALLOWED) test(`${text.slice(0, 60)} is allowed`, () => assert.equal(isClientUrl(text), true))

  for (const [what, text] of REFUSED) test(`${what} is not allowed`, () => assert.equal(isClientUrl(text), false))

  test('is recognized by its scheme, also if it is not allowed', () => {
    for (const text of ['https://a.example/c', 'HTTPS://a', 'http://']) assert.equal(looksLikeUrl(text), true, text)
    for (const text of ['svc_client_01', 'https', ' https://a.example/c', 'ftp://a']) {
      assert.equal(looksLikeUrl(text), false, text)
    }
  })

  test('names the application by its host, with a port that is not the default', () => {
    assert.equal(hostOfClientUrl('https://claude.ai/oauth/c'), 'claude.ai')
    assert.equal(hostOfClientUrl('https://claude.ai:443/oauth/c'), 'claude.ai')
    assert.equal(hostOfClientUrl('https://claude.ai:8443/oauth/c'), 'claude.ai:8443')
  })
})
