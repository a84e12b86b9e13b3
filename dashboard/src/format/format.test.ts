import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../api/api-error.ts'
import { formatShortAddress } from './address.ts'
import { formatDate, formatTime } from './date.ts'
import { explainError } from './explain-error.ts'
import { formatResource } from './format-resource.ts'
import { formatScopeList } from './scope-texts.ts'

describe('addresses', () => {
  test('a long one keeps its beginning and end', () => {
    assert.equal(formatShortAddress('0x52908400098527886E0F7030069857D2E4169EE7'), '0x5290…9EE7')
  })

  test('a short one is unchanged', () => assert.equal(formatShortAddress('0x52908400'), '0x52908400'))
})

describe('times', () => {
  test('a day is unambiguous', () => assert.match(formatDate('2026-11-12T12:00:00.000Z'), /^1[123] Nov 2026$/))
  test('a time is shown to the minute', () =>
    assert.match(formatTime('2026-11-12T12:03:00.000Z'), /^1[123] Nov 2026, \d\d:\d\d$/))
  test('text that is not a time is unchanged', () => assert.equal(formatDate('soon'), 'soon'))
})

describe('errors', () => {
  test("the server's message is shown", () => {
    assert.equal(explainError(new ApiError(409, { type: 'conflict', message: 'Taken.' })), 'Taken.')
  })

  test('a closed passkey prompt is explained', () => {
    assert.match(explainError(new DOMException('…', 'NotAllowedError')), /prompt was closed/)
  })

  test('any other error has a general message', () => {
    for (const thrown of [new Error('x'), 'x', undefined]) assert.match(explainError(thrown), /Something went wrong/)
  })
})

test('scopes are described, and reading is always included', () => {
  for (const scopes of [['wallet:read', 'wallet:transfer'], ['wallet:transfer']] as const)
    assert.equal(formatScopeList(scopes), 'read agents, payments and events, send USDC')
  assert.match(formatScopeList(['x402:pay']), /buy web resources/)
})

test('a web resource is shown without its scheme', () => {
  assert.equal(formatResource('https://api.example:8443/a/b'), 'api.example:8443/a/b')
  assert.equal(formatResource('http://api.example/'), 'api.example')
})
