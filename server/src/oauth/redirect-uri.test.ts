import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { findRedirectUriFault, formatAnswerUri, isRegistered, parseRedirectUri } from './redirect-uri.ts'
import { ANY_CHARACTER } from '../../../test/support/any-character.ts'
import { anyUrl } from '../../../test/support/any-url.ts'

const OWN_ORIGINS = ['https://pay.example.com', 'http://localhost:4101']

/** Redirect URIs that a client may register. Ids such as A13 also name the test cases in `test/oauth`. */
const ALLOWED: readonly (readonly [string, string])[] = [
  ['https', 'https://a.example/cb'],
  ['https with a port', 'https://a.example:8443/cb'],
  ['https without a path', 'https://a.example'],
  ['a query, A13', 'https://a.example/cb?tenant=1'],
  ['a query without a path', 'https://a.example?tenant=1'],
  ['every character of RFC 3986', "https://a.example/-._~!$&'()*+,;=:@%7E?a/b?c=[1]"],
  ['an upper-case host, kept as it is', 'https://A.Example/cb'],
  ['an IDN host in punycode, B12', 'https://xn--bcher-kva.example/cb'],
  ['https on localhost, B8', 'https://localhost:3000/cb'],
  ['https on an IP address, B8', 'https://127.0.0.1/cb'],
  ['https on IPv6', 'https://[2001:db8::1]:8443/cb'],
  ['an encoded slash', 'https://a.example/a%2F..%2Fb'],
  ['loopback, B5', 'http://127.0.0.1/cb'],
  ['loopback with a port, B5', 'http://127.0.0.1:33418/cb'],
  ['the highest port', 'http://127.0.0.1:65535/cb'],
  ['the lowest port', 'http://127.0.0.1:1/cb'],
  ['localhost', 'http://localhost:8787/callback'],
  ['localhost without a path', 'http://localhost:8787'],
  ['IPv6 loopback, B7', 'http://[::1]:1234/cb'],
  ['another port of the host that is ours', 'http://localhost:4102/cb'],
  ['2,048 characters, B13', `https://a.example/${'a'.repeat(2_030)}`],
  ['names like those of our answer', 'https://a.example/cb?codex=1&mystate=2&STATE=3'],
]

const REFUSED: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a fragment, B2', 'https://a.example/cb#x'],
  ['an empty fragment, B2', 'https://a.example/cb#'],
  ['user information, B3', 'https://user@a.example/cb'],
  ['user information with a password, B3', 'https://user:x@a.example/cb'],
  ['a host as user information, B3', 'https://localhost@evil.example/cb'],
  ['localhost as a subdomain, B4', 'http://localhost.evil.example/cb'],
  ['an address as a subdomain, B4', 'http://127.0.0.1.nip.example/cb'],
  ['localhost with a dot, B4', 'http://localhost./cb'],
  ['loopback as user information, B4', 'http://127.0.0.1@evil.example/cb'],
  ['IPv6 loopback at length, B7', 'http://[0:0:0:0:0:0:0:1]/cb'],
  ['IPv4 in IPv6, B7', 'http://[::ffff:127.0.0.1]/cb'],
  ['127.0.0.2, B7', 'http://127.0.0.2/cb'],
  ['leading zeros, B7', 'http://127.000.000.001/cb'],
  ['LOCALHOST, B7', 'http://LOCALHOST/cb'],
  ['HTTP, B7', 'HTTP://127.0.0.1/cb'],
  ['HTTPS, B1', 'HTTPS://a.example/cb'],
  ['two labels, 1.B', 'http://127.1/cb'],
  ['hexadecimal, 1.B', 'http://0x7f000001/cb'],
  ['one number, 1.B', 'http://2130706433/cb'],
  ['octal, 1.B', 'http://017700000001/cb'],
  ['hexadecimal by https, 1.B', 'https://0x7f000001/cb'],
  ['full-width digits, 1.B', 'http://１２７.0.0.1/cb'],
  ['circled digits, 1.B', 'http://①②⑦.0.0.1/cb'],
  ['ideographic full stops, 1.B', 'http://127。0。0。1/cb'],
  ['backslashes, 1.B', 'http:\\\\localhost/cb'],
  ['a backslash in the host', 'https://a.example\\@evil.example/cb'],
  ['no slashes, 1.B', 'http:localhost/cb'],
  ['one slash', 'https:/a.example/cb'],
  ['three slashes', 'https:///a.example/cb'],
  ['a newline, 1.B', 'https://a.exa\nmple/cb'],
  ['a tab, 1.B', 'https://a.example/c\tb'],
  ['a leading space, 1.B', ' https://a.example/cb'],
  ['a trailing space', 'https://a.example/cb '],
  ['NUL', 'https://a.example/cb\u0000'],
  ['dot segments, B7', 'http://127.0.0.1/x/../callback'],
  ['dot segments by https', 'https://a.example/x/../callback'],
  ['a single dot segment', 'https://a.example/./callback'],
  ['encoded dot segments, 1.B', 'https://a.example/x/%2e%2e/callback'],
  ['a broken escape', 'https://a.example/%zz'],
  ['an escaped host', 'https://ex%61mple.com/cb'],
  ['port 0, B9', 'http://127.0.0.1:0/cb'],
  ['port 65536, B9', 'http://127.0.0.1:65536/cb'],
  ['an empty port, B9', 'http://127.0.0.1:/cb'],
  ['a port with a zero before, B9', 'http://127.0.0.1:080/cb'],
  ['a port that is none', 'https://a.example:x/cb'],
  ['port 0 by https, B9', 'https://a.example:0/cb'],
  ['http elsewhere, B10', 'http://a.example/cb'],
  ['javascript, B10', 'javascript:alert(1)'],
  ['javascript with a host', 'javascript://a.example/%0aalert(1)'],
  ['javascript after a space, B10', ' javascript:alert(1)'],
  ['javascript with a newline, B10', 'java\nscript:alert(1)'],
  ['JavaScript, B10', 'JaVaScRiPt:alert(1)'],
  ['data, B10', 'data:text/html,<script>alert(1)</script>'],
  ['file, B10', 'file:///etc/passwd'],
  ['vbscript, B10', 'vbscript:msgbox(1)'],
  ['cursor, B10', 'cursor://anysphere.cursor-mcp/oauth/callback'],
  ['a private scheme, B10', 'com.example:/cb'],
  ['blob', 'blob:https://a.example/1'],
  ['a wildcard host, B11', 'https://*.example.com/cb'],
  ['a Unicode host, B12', 'https://bücher.example/cb'],
  ['a Unicode path', 'https://a.example/é'],
  ['2,049 characters, B13', `https://a.example/${'a'.repeat(2_031)}`],
  ['our own origin, B14', 'https://pay.example.com/cb'],
  ['our own origin in upper case, B14', 'https://PAY.example.com/cb'],
  ['our own origin with its default port, B14', 'https://pay.example.com:443/cb'],
  ['our own origin on loopback, B14', 'http://localhost:4101/cb'],
  ['a code of its own, A13', 'https://a.example/cb?code=1'],
  ['a state of its own, A13', 'https://a.example/cb?a=1&state=1'],
  ['an escaped error of its own, A13', 'https://a.example/cb?%65rror=1'],
  ['an iss of its own, A13', 'https://a.example/cb?iss'],
  ['a relative reference', '/cb'],
  ['a reference without a scheme', '//a.example/cb'],
]

/** For each rule, a redirect URI that breaks it, and what the developer of the client reads about it. */
const FAULTS: readonly (readonly [string, string])[] = [
  [`https://a.example/${'a'.repeat(2_031)}`, 'has more than 2048 characters'],
  ['https://a.example/cb#x', 'has a fragment (#)'],
  ['https://a.example/\u00e9', 'has a character that a URI must not contain'],
  ['cursor://anysphere.cursor-mcp/oauth/callback', 'does not begin with https:// or http://'],
  ['javascript:alert(1)', 'does not begin with https:// or http://'],
  ['/cb', 'does not begin with https:// or http://'],
  ['https://user:x@a.example/cb', 'has user information (@)'],
  ['https://*.example.com/cb', 'has a wildcard (*) in its host'],
  ['http://127.0.0.1:65536/cb', 'has a host or port that is not valid (ports are 1 to 65535)'],
  ['http://0x7f000001/cb', 'has a host or path that browsers rewrite, such as /../'],
  ['https://a.example/x/../callback', 'has a host or path that browsers rewrite, such as /../'],
  ['https://pay.example.com/cb', 'is an address of this service'],
  ['https://a.example/cb?a=1&state=1', 'has state in its query, which the response adds'],
  ['http://a.example/cb', 'uses http on a host other than 127.0.0.1, [::1], localhost'],
]

/** The name of the case, the registered URI, the requested URI, and whether the URIs match. */
const COMPARED: readonly (readonly [string, string, string, boolean])[] = [
  ['the same', 'https://a.example/cb', 'https://a.example/cb', true],
  ['a trailing slash, B1', 'https://a.example/cb', 'https://a.example/cb/', false],
  ['a slash for no path, B1', 'https://a.example', 'https://a.example/', false],
  ['the path’s case, B1', 'https://a.example/cb', 'https://a.example/CB', false],
  ['the host’s case, B1', 'https://a.example/cb', 'https://A.example/cb', false],
  ['the order of the query, B1', 'https://a.example/cb?a=1&b=2', 'https://a.example/cb?b=2&a=1', false],
  ['an escaped tilde, B1', 'https://a.example/~', 'https://a.example/%7E', false],
  ['an escaped slash, B1', 'https://a.example/a/b', 'https://a.example/a%2Fb', false],
  ['the case of an escape, B1', 'https://a.example/%2f', 'https://a.example/%2F', false],
  ['the default port added, B1', 'https://a.example/cb', 'https://a.example:443/cb', false],
  ['the default port dropped, B1', 'https://a.example:443/cb', 'https://a.example/cb', false],
  ['another port by https, B8', 'https://localhost:3000/cb', 'https://localhost:3001/cb', false],
  ['a longer path, B11', 'https://a.example/cb', 'https://a.example/cb/x', false],
  ['a longer host, B11', 'https://a.example/cb', 'https://a.example.evil.example/cb', false],
  ['a query added, B1', 'https://a.example/cb', 'https://a.example/cb?a=1', false],
  ['a query dropped, B1', 'https://a.example/cb?a=1', 'https://a.example/cb', false],
  ['a port added, B5', 'http://127.0.0.1/cb', 'http://127.0.0.1:51004/cb', true],
  ['another port, B5', 'http://127.0.0.1:33418/', 'http://127.0.0.1:51004/', true],
  ['a port dropped, B5', 'http://localhost:33418/cb', 'http://localhost/cb', true],
  ['another port by IPv6, B7', 'http://[::1]/cb', 'http://[::1]:51004/cb', true],
  ['another path on loopback, B6', 'http://127.0.0.1/cb', 'http://127.0.0.1:1/cb2', false],
  ['no path on loopback, B6', 'http://127.0.0.1/', 'http://127.0.0.1:1', false],
  ['another query on loopback, B6', 'http://127.0.0.1/cb?a=1', 'http://127.0.0.1:1/cb?a=2', false],
  ['another scheme on loopback, B6', 'http://127.0.0.1/cb', 'https://127.0.0.1/cb', false],
  ['another name of loopback, B6', 'http://localhost:1/cb', 'http://127.0.0.1:1/cb', false],
  ['another address of loopback, B6', 'http://127.0.0.1:1/cb', 'http://[::1]:1/cb', false],
]

const host = fc.constantFrom('127.0.0.1', '[::1]', 'localhost')
const port = fc.integer({ min: 1, max: 65_535 })
const path = fc.constantFrom('', '/', '/cb', '/a/b?c=d')

describe('a redirect URI', () => {
  for (const [name, text] of ALLOWED) {
    test(`may be ${name}: ${text.slice(0, 60)}`, () => assert.equal(parseRedirectUri(text, OWN_ORIGINS)?.text, text))
  }

  for (const [name, text] of REFUSED) {
    test(`may not be ${name}: ${JSON.stringify(text).slice(0, 60)}`, () => {
      assert.equal(parseRedirectUri(text, OWN_ORIGINS), null)
    })
  }

  for (const [text, fault] of FAULTS) {
    test(`${JSON.stringify(text).slice(0, 60)} ${fault}`, () => {
      assert.equal(findRedirectUriFault(text, OWN_ORIGINS), fault)
    })
  }

  test('has a fault exactly if it is rejected, and the fault repeats nothing that a caller chose', () => {
    for (const [, text] of [...ALLOWED, ...REFUSED]) {
      const fault = findRedirectUriFault(text, OWN_ORIGINS)
      assert.equal(fault === null, parseRedirectUri(text, OWN_ORIGINS) !== null)
      assert.match(fault ?? '', /^[ -~]*$/)
    }
  })

  for (const [name, registered, requested, matches] of COMPARED) {
    test(`${matches ? 'matches' : 'does not match'} with ${name}: ${registered} and ${requested}`, () => {
      const uri = parseRedirectUri(requested, [])
      assert.ok(uri !== null)
      assert.equal(isRegistered(uri, ['https://other.example/', registered]), matches)
    })
  }

  test('matches on loopback whatever the two ports are (B5)', () => {
    fc.assert(
      fc.property(host, path, fc.option(port), port, (host, path, registered, requested) => {
        const uri = parseRedirectUri(`http://${host}:${requested}${path}`, [])
        assert.ok(uri !== null)
        assert.ok(isRegistered(uri, [`http://${host}${registered === null ? '' : `:${registered}`}${path}`]))
      }),
    )
  })

  test('with https matches only itself (B1)', () => {
    const text = anyUrl({ schemes: ['https'], withQuery: true })
    fc.assert(
      fc.property(text, text, (registered, requested) => {
        const uri = parseRedirectUri(requested, [])
        if (uri === null) return
        assert.equal(isRegistered(uri, [registered]), registered === requested)
        assert.ok(isRegistered(uri, [requested]))
        assert.ok(!isRegistered(uri, [`${requested}a`]))
      }),
    )
  })

  test('is rejected, or a URL parser reads it unchanged', () => {
    const part = fc.oneof(
      fc.string({ unit: ANY_CHARACTER, maxLength: 4 }),
      fc.constantFrom('a', '.', '@', ':', '%2e', '\\'),
    )
    const tail = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.constantFrom('https://', 'http://127.0.0.1', 'https://a.example'), tail, (start, tail) => {
        const uri = parseRedirectUri(start + tail, [])
        if (uri === null) return
        const { host, hash, username } = new URL(uri.text)
        assert.equal(hash + username, '')
        assert.ok(uri.text.toLowerCase().startsWith(`${uri.text.split('://')[0]}://${host}`.replace(/:\d+$/, '')))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('a response in the redirect URI', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['a URI without a query', 'https://a.example/cb', 'https://a.example/cb?code=1&state=2'],
    ['a URI without a path', 'https://a.example', 'https://a.example?code=1&state=2'],
    ['a URI with a query, A13', 'https://a.example/cb?tenant=1', 'https://a.example/cb?tenant=1&code=1&state=2'],
    ['a URI with an empty query', 'https://a.example/cb?', 'https://a.example/cb?code=1&state=2'],
    ['a query that ends with an ampersand', 'https://a.example/cb?a&', 'https://a.example/cb?a&code=1&state=2'],
  ]
  for (const [name, uri, expected] of cases) {
    test(`is appended to ${name}`, () => assert.equal(formatAnswerUri(uri, { code: '1', state: '2' }), expected))
  }

  test('is decoded to exactly the encoded values (A11)', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 })
    fc.assert(
      fc.property(text, (state) => {
        const uri = formatAnswerUri('https://a.example/cb?tenant=1', { state, iss: 'https://pay.example.com' })
        assert.match(uri, /^[!-~]+$/)
        assert.deepEqual(
          [...new URL(uri).searchParams],
          [
            ['tenant', '1'],
            ['state', state],
            ['iss', 'https://pay.example.com'],
          ],
        )
      }),
    )
  })
})
