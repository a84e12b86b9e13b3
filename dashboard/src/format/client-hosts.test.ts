import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatClientHosts } from './client-hosts.ts'

describe('formatClientHosts', () => {
  const cases = [
    [null, ['127.0.0.1', 'a.example'], '127.0.0.1, a.example'],
    ['a.example', ['a.example'], 'a.example'],
    ['a.example', ['localhost', '127.0.0.1'], 'a.example (localhost, 127.0.0.1)'],
  ] as const
  for (const [document_host, redirect_hosts, text] of cases) {
    test(`an application is named ${text}`, () => {
      assert.equal(formatClientHosts({ name: 'x', document_host, redirect_hosts: [...redirect_hosts] }), text)
    })
  }
})
