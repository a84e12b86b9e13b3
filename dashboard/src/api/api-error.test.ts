import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasCode, isTransient, isSignedOut, parseApiError, unreachable, waitOf } from './api-error.ts'

describe('parseApiError', () => {
  test('reads a whole envelope', () => {
    const error = parseApiError(409, {
      error: { type: 'conflict', message: 'It is your only passkey.', code: 'last_passkey', details: [1] },
    })
    assert.deepEqual(
      [error.status, error.type, error.message, error.code, error.details],
      [409, 'conflict', 'It is your only passkey.', 'last_passkey', [1]],
    )
  })

  const strange = [
    undefined,
    null,
    'Bad Gateway',
    [],
    {},
    { error: 'no' },
    { error: { type: 'x' } },
    { error: { type: 1, message: 2 } },
  ]
  for (const body of strange) {
    test(`${JSON.stringify(body) ?? 'no body'} gives an error that names the status`, () => {
      const error = parseApiError(502, body)
      assert.equal(error.type, 'internal')
      assert.match(error.message, /502/)
    })
  }

  test('ignores a code that is not text', () => {
    assert.equal(parseApiError(400, { error: { type: 'x', message: 'y', code: 7 } }).code, undefined)
  })
})

describe('what an error means', () => {
  test('a 401 without a code is the end of the session', () => {
    assert.equal(isSignedOut(parseApiError(401, { error: { type: 'unauthenticated', message: 'Sign in.' } })), true)
  })

  test('a rejected passkey is not', () => {
    const error = parseApiError(401, { error: { type: 'unauthenticated', message: 'No.', code: 'passkey_unknown' } })
    assert.equal(isSignedOut(error), false)
    assert.equal(hasCode(error, 'passkey_unknown'), true)
  })

  test('an outage is transient, a rejection is not', () => {
    assert.equal(isTransient(unreachable()), true)
    assert.equal(isTransient(parseApiError(503, {})), true)
    assert.equal(isTransient(parseApiError(404, {})), false)
    assert.equal(isTransient(new Error('a fault of ours')), false)
  })
})

describe('waitOf', () => {
  const limited = { error: { type: 'rate_limited', message: 'Too many requests.' } }

  test('is what the server asks for, if that is short', () => {
    assert.equal(waitOf(parseApiError(429, limited, '7')), 7_000)
    for (const header of [null, '31', '-1', 'soon']) assert.equal(waitOf(parseApiError(429, limited, header)), null)
  })

  test('is null for other errors', () => {
    assert.equal(waitOf(parseApiError(503, limited, '7')), null)
    assert.equal(waitOf(new Error('x')), null)
  })
})
