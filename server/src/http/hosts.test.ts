import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { onAuthHostOnly, originOf } from './hosts.ts'

const ORIGINS = { baseUrl: 'https://api.example.com', authUrl: 'https://pay.example.com:8443' }

const CASES: readonly (readonly [string, string, boolean])[] = [
  ['api.example.com', ORIGINS.baseUrl, false],
  ['API.example.com:443', ORIGINS.baseUrl, false],
  ['pay.example.com:8443', ORIGINS.authUrl, true],
  ['PAY.EXAMPLE.COM:8443', ORIGINS.authUrl, true],
  ['pay.example.com', ORIGINS.baseUrl, false],
  ['pay.example.com.', ORIGINS.baseUrl, false],
  ['evil.example', ORIGINS.baseUrl, false],
  ['10.0.0.7:4100', ORIGINS.baseUrl, false],
  ['', ORIGINS.baseUrl, false],
  ['a b', ORIGINS.baseUrl, false],
]

function requestWith(members: object): FastifyRequest {
  return { protocol: 'https', routeOptions: { config: {} }, ...members } as unknown as FastifyRequest
}

describe('the two hosts of the service', () => {
  for (const [host, origin, isServed] of CASES) {
    test(`Host "${host}" means ${origin}, and ${isServed ? 'has' : 'has not'} the dashboard`, async () => {
      // X-Forwarded-Host must not count: any client can send it, and proxies pass it on.
      const headers = { host, 'x-forwarded-host': 'pay.example.com:8443' }
      const request = requestWith({ headers, host: 'pay.example.com:8443' })
      assert.equal(originOf(request, ORIGINS), origin)
      const outcome = onAuthHostOnly(ORIGINS)(request)
      if (isServed) await outcome
      else await assert.rejects(outcome, { type: 'not_found' })
    })
  }

  test('with one host for both, everything is served there, and an unknown host still has no dashboard', async () => {
    const one = { baseUrl: ORIGINS.baseUrl, authUrl: ORIGINS.baseUrl }
    const at = (host: string) => requestWith({ headers: { host } })
    await onAuthHostOnly(one)(at('api.example.com'))
    await assert.rejects(onAuthHostOnly(one)(at('evil.example')), { type: 'not_found' })
    for (const host of ['api.example.com', 'evil.example']) assert.equal(originOf(at(host), one), ORIGINS.baseUrl)
  })
})
