import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseNextPath, withNext } from './next-path.ts'

describe('parseNextPath', () => {
  const own = ['/', '/account', '/consent?request=abc', '/w/acme/members#top', '/invite/x-1?y=//z', '/a/../b', '/@host']
  for (const path of own) {
    test(`${path} is accepted as a path of this site`, () => assert.equal(parseNextPath(path), path))
  }

  const foreign = [
    null,
    '',
    'account',
    'https://evil.example/',
    'javascript:alert(1)',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '/a\\..\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\u0000',
    '/.//evil.example',
    '/a/..//evil.example',
    ' /account',
  ]
  for (const path of foreign) {
    test(`${JSON.stringify(path)} becomes the start page`, () => assert.equal(parseNextPath(path), '/'))
  }
})

describe('withNext', () => {
  test('the next path survives encoding', () => {
    const path = withNext('/sign-in', '/consent?request=a&b=c#d')
    const next = new URL(path, 'https://bursar.example').searchParams.get('next')
    assert.equal(parseNextPath(next), '/consent?request=a&b=c#d')
  })

  test('the start page is left out', () => assert.equal(withNext('/sign-up', '/'), '/sign-up'))
})
