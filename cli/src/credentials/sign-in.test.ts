import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCallback } from './sign-in.ts'

const EXPECTED = { state: 'the-state', issuer: 'https://auth.example.com' }
const ISS = 'iss=https%3A%2F%2Fauth.example.com'

describe('the address to which the browser comes back', () => {
  const cases: readonly (readonly [string, string, unknown])[] = [
    ['a code', `code=c1&state=the-state&${ISS}`, { kind: 'code', code: 'c1' }],
    [
      'an error',
      `error=access_denied&state=the-state&${ISS}`,
      { kind: 'error', error: 'access_denied', description: '' },
    ],
    ['another state', `code=c1&state=the-stale&${ISS}`, null],
    ['no state', `code=c1&${ISS}`, null],
    ['two states', `code=c1&state=the-state&state=the-state&${ISS}`, null],
    ['two codes', `code=c1&code=c2&state=the-state&${ISS}`, null],
    ['another issuer', 'code=c1&state=the-state&iss=https%3A%2F%2Fevil.example.com', null],
    ['no issuer', 'code=c1&state=the-state', null],
    ['neither code nor error', `state=the-state&${ISS}`, null],
  ]
  for (const [what, query, expected] of cases) {
    test(`${what}: ${expected === null ? 'is not for this sign-in' : 'is read'}`, () => {
      assert.deepEqual(readCallback(new URLSearchParams(query), EXPECTED), expected)
    })
  }
})
