import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isClientUrl } from '../domain/connections/client-url.ts'
import { SCOPES } from '../values/scope.ts'
import { parseClientDocument } from './client-document.ts'
import { KNOWN_DOCUMENTS } from './known-documents.ts'
import { InvalidClientDocument } from './oauth-error.ts'

const URL = 'https://app.example/oauth/client.json'
const CALLBACK = 'https://app.example/callback'
const OWN_ORIGINS = ['https://pay.example.com', 'http://localhost:4101']
const BASE = { client_id: URL, client_name: 'An app', redirect_uris: [CALLBACK] }

function parse(changes: Readonly<Record<string, unknown>>) {
  return parseClientDocument({ ...BASE, ...changes }, { url: URL, ownOrigins: OWN_ORIGINS })
}

const ACCEPTED: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['no authentication method', {}],
  ['the authentication method none', { token_endpoint_auth_method: 'none' }],
  [
    'another preferred method, with none in the list',
    {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    },
  ],
  ['only the list, with none in it', { token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] }],
  ['unknown members', { jwks_uri: 'https://app.example/jwks', logo_uri: 'javascript:alert(1)', x: { y: [1] } }],
  [
    'unknown grant types',
    { grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:jwt-bearer'] },
  ],
]

const REFUSED: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  ['a client_id that differs in one character', { client_id: `${URL}n` }, /its client_id is not the URL/],
  ['a client_id that differs in its port', { client_id: URL.replace('.example', '.example:443') }, /client_id/],
  ['no client_id', { client_id: undefined }, /client_id/],
  ['a method that needs a secret', { token_endpoint_auth_method: 'client_secret_basic' }, /auth_method none/],
  ['a method that needs a key', { token_endpoint_auth_method: 'private_key_jwt' }, /auth_method none/],
  [
    'a list of methods without none',
    { token_endpoint_auth_methods_supported: ['private_key_jwt'] },
    /auth_method none/,
  ],
  ['a client secret', { client_secret: 'x' }, /contains a client secret/],
  ['a client secret that expires', { client_secret_expires_at: 0 }, /contains a client secret/],
  ['no redirect URIs', { redirect_uris: undefined }, /redirect_uris is not a list/],
  ['an empty list of redirect URIs', { redirect_uris: [] }, /redirect_uris is not a list/],
  ['redirect URIs that are not strings', { redirect_uris: [CALLBACK, 1] }, /redirect_uris is not a list/],
  ['a redirect URI on another host', { redirect_uris: ['https://evil.example/cb'] }, /none of its redirect_uris/],
  ['a redirect URI on a subdomain', { redirect_uris: ['https://x.app.example/cb'] }, /none of its redirect_uris/],
  ['a redirect URI on another port', { redirect_uris: ['https://app.example:8443/cb'] }, /none of its redirect_uris/],
  ['a redirect URI over http', { redirect_uris: ['http://app.example/cb'] }, /none of its redirect_uris/],
  ['a redirect URI of an app', { redirect_uris: ['app://callback'] }, /none of its redirect_uris/],
  ['a redirect URI of this service', { redirect_uris: ['http://localhost:4101/cb'] }, /none of its redirect_uris/],
  [
    'eleven redirect URIs',
    { redirect_uris: Array.from({ length: 11 }, (_, index) => `${CALLBACK}/${index}`) },
    /more than 10 redirect_uris/,
  ],
]

describe('parseClientDocument', () => {
  for (const [what, changes] of ACCEPTED) {
    test(`accepts a document with ${what}`, () => {
      assert.deepEqual(parse(changes), { name: 'An app', redirectUris: [CALLBACK], scopes: SCOPES })
    })
  }

  for (const [what, changes, message] of REFUSED) {
    test(`rejects a document with ${what}`, () => {
      assert.throws(
        () => parse(changes),
        (error) => error instanceof InvalidClientDocument && message.test(error.message),
      )
    })
  }

  test('keeps only redirect URIs on loopback or on the origin of the document', () => {
    const loopback = ['http://127.0.0.1:33418/', 'http://localhost/callback', 'http://[::1]/cb']
    const others = ['https://evil.example/cb', 'cursor://cb', 'http://app.example/cb', 'https://localhost/cb']
    assert.deepEqual(parse({ redirect_uris: [...others, CALLBACK, ...loopback, CALLBACK] }).redirectUris, [
      CALLBACK,
      ...loopback,
    ])
  })

  test('cleans the name, and uses the host if there is none', () => {
    assert.equal(parse({ client_name: ' A\u202e  b ' }).name, 'A b')
    for (const client_name of [undefined, null, '', '\u200b', 5]) {
      assert.equal(parse({ client_name }).name, 'app.example')
    }
  })

  test('uses those of our scopes that the document names, or all if it names none', () => {
    assert.deepEqual(parse({ scope: 'openid wallet:read offline_access' }).scopes, ['wallet:read'])
    for (const scope of [undefined, '', 'openid', 'a  b', 1]) assert.deepEqual(parse({ scope }).scopes, SCOPES)
  })

  test('accepts the built-in copies, with all of their redirect URIs', () => {
    assert.equal(KNOWN_DOCUMENTS.length, 6)
    for (const document of KNOWN_DOCUMENTS) {
      const { client_id: url, client_name: name, redirect_uris } = document
      assert.equal(isClientUrl(url), true, url)
      const parsed = parseClientDocument(document, { url, ownOrigins: OWN_ORIGINS })
      assert.deepEqual(parsed, { name, redirectUris: redirect_uris, scopes: SCOPES })
    }
  })
})
