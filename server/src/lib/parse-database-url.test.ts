import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDatabaseUrl } from './parse-database-url.ts'

test('a database URL names one server or several, each with the same user, database and parameters', () => {
  const cases: readonly (readonly [string, readonly string[] | null])[] = [
    ['postgres://u:p,q@db:5432/bursar', ['postgres://u:p,q@db:5432/bursar']],
    ['/var/run/postgresql bursar', ['/var/run/postgresql bursar']],
    ['postgresql:///bursar?host=/run/postgresql', ['postgresql:///bursar?host=/run/postgresql']],
    [
      'postgresql://u:p%40@a:5432,b,[::1]:5434/bursar?sslmode=verify-full&target_session_attrs=read-write',
      ['a:5432', 'b', '[::1]:5434'].map(
        (host) => `postgresql://u:p%40@${host}/bursar?sslmode=verify-full&target_session_attrs=read-write`,
      ),
    ],
    ['postgres://a,b', ['postgres://a', 'postgres://b']],
    ['postgres://db/bursar?target_session_attrs=primary', ['postgres://db/bursar?target_session_attrs=primary']],
    ['postgres://db/bursar?target_session_attrs=any', null],
    ['postgres://a,b/bursar?target_session_attrs=standby', null],
    ['postgres://a,,b/bursar', null],
    ['postgres://a:1:2,b/bursar', null],
    ['postgres://a:port,b/bursar', null],
  ]
  for (const [url, servers] of cases) assert.deepEqual(parseDatabaseUrl(url), servers, url)
})
