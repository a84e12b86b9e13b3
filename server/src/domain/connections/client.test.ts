import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SCOPES } from '../../values/scope.ts'
import { redirectHostsOf } from './client.ts'
import { narrowScopes } from './narrow-scopes.ts'

describe('redirectHostsOf', () => {
  test('lists each host once, with the port for https and without it for loopback', () => {
    const redirectUris = [
      'https://client.example/a',
      'https://client.example/b',
      'https://client.example:8443/a',
      'http://127.0.0.1:33418/callback',
      'http://127.0.0.1/callback',
      'http://[::1]:1/callback',
    ]
    const hosts = ['client.example', 'client.example:8443', '127.0.0.1', '[::1]']
    assert.deepEqual(redirectHostsOf({ redirectUris }), hosts)
  })
})

describe('narrowScopes', () => {
  const rows = [
    [SCOPES, null, SCOPES],
    [SCOPES, SCOPES, SCOPES],
    [SCOPES, ['x402:pay', 'wallet:read', 'wallet:read'], ['wallet:read', 'x402:pay']],
    [['wallet:read'], ['wallet:read'], ['wallet:read']],
    [['wallet:read'], ['wallet:read', 'wallet:transfer'], null],
    [['wallet:read'], ['wallet:transfer'], null],
    [SCOPES, [], null],
  ] as const
  for (const [offered, wanted, narrowed] of rows) {
    test(`of ${offered.join(' ')}: ${wanted?.join(' ') ?? 'whatever there is'}`, () => {
      assert.deepEqual(narrowScopes(offered, wanted), narrowed)
    })
  }
})
