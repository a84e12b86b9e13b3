import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyUrl } from './any-url.ts'

test('each URL has one of the schemes, and a URL parser reads the same host and query', () => {
  fc.assert(
    fc.property(anyUrl({ schemes: ['https', 'wss'], withQuery: true }), (text) => {
      const { protocol, host, search, hash, username } = new URL(text)
      assert.ok(['https:', 'wss:'].includes(protocol))
      assert.ok(text.toLowerCase().startsWith(`${protocol}//${host}`))
      assert.equal(hash + username, '')
      assert.ok(search.length <= 1 || text.endsWith(search.replaceAll('%27', "'")))
    }),
  )
})

test('some URLs have a path, a query and characters that are percent-encoded', () => {
  const urls = fc.sample(anyUrl({ withQuery: true }), 300)
  for (const pattern of [/^http:/, /^https:/, /\/[^/?]/, /\?./, /%[CDEF]/]) {
    assert.ok(
      urls.some((url) => pattern.test(url)),
      String(pattern),
    )
  }
})
