import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Type } from 'typebox'
import { createClock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { isoTime, orNull, oneOf, usdc } from '../values/schema-fields.ts'
import { findFreePort } from '../../../test/support/free-port.ts'
import { readBody, send } from '../../../test/support/http-client.ts'
import { openHttp, type HttpServer } from './open-http.ts'

const Body = Type.Object(
  {
    id: Type.Optional(Type.String({ minLength: 1, maxLength: 3 })),
    code: Type.Optional(Type.String({ minLength: 2, pattern: '^[a-z]+$', examples: ['ab'] })),
    amount: Type.Optional(usdc()),
    mode: Type.Optional(oneOf(['test', 'live'])),
    kind: Type.Optional(Type.Literal('public-key')),
    color: Type.Optional(Type.Enum(['red', 'blue'])),
    ends_at: Type.Optional(orNull(isoTime())),
    memo: Type.Optional(orNull(Type.String({ maxLength: 1 }))),
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 30 })),
    age: Type.Optional(Type.Integer({ minimum: 1 })),
    ratio: Type.Optional(Type.Number({ maximum: 1 })),
    on: Type.Optional(Type.Boolean()),
    list: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2, uniqueItems: true })),
    inner: Type.Optional(Type.Object({ 'a/b': Type.String() }, { additionalProperties: false })),
  },
  { additionalProperties: false },
)

const SENTENCES: readonly (readonly [body: unknown, ...sentences: string[]])[] = [
  [[], 'The body must be an object.'],
  [{ foo: 1 }, '`foo` is not a member of this request.'],
  [{ inner: { x: 1 } }, '`inner.a/b` is required.', '`inner.x` is not a member of this request.'],
  [{ inner: { 'a/b': 1 } }, '`inner.a/b` must be a string.'],
  [{ id: '' }, '`id` must not be empty.'],
  [{ id: 'aaaa' }, '`id` must have at most 3 characters.'],
  [{ id: null }, '`id` must be a string.'],
  [{ code: 'a' }, '`code` must have at least 2 characters.'],
  [{ code: 'A1' }, '`code` does not have the required form, such as "ab".'],
  [{ amount: 1.25 }, '`amount` must be a string, such as "12.5".'],
  [{ mode: 'dry' }, '`mode` must be one of "test", "live".'],
  [{ mode: 7 }, '`mode` must be one of "test", "live".'],
  [{ kind: 'x' }, '`kind` must be "public-key".'],
  [{ color: 'x' }, '`color` must be one of "red", "blue".'],
  [{ ends_at: 7 }, '`ends_at` must be a string or null.'],
  [{ ends_at: 'soon' }, '`ends_at` must be an ISO 8601 time with a UTC offset, such as "2026-06-30T12:00:00Z".'],
  [{ memo: 'aa' }, '`memo` must have at most 1 character.'],
  [{ days: 31 }, '`days` must be a whole number from 1 to 30.'],
  [{ days: 1.5 }, '`days` must be a whole number.'],
  [{ age: 0 }, '`age` must be a whole number of at least 1.'],
  [{ ratio: 2 }, '`ratio` must be a number of at most 1.'],
  [{ on: 'yes' }, '`on` must be true or false.'],
  [{ list: 'a' }, '`list` must be a list.'],
  [{ list: [] }, '`list` must have at least 1 entry.'],
  [{ list: ['a', 'b', 'c'] }, '`list` must have at most 2 entries.'],
  [{ list: ['a', 'a'] }, '`list` must not contain the same entry twice.'],
  [{ list: ['a', 1] }, '`list.1` must be a string.'],
]

describe('the messages about a request that does not match its schema', () => {
  let http: HttpServer
  let url: string
  before(async () => {
    const clock = createClock()
    http = openHttp({ production: false, trustedProxies: [] }, { clock, logger: createLogger('silent') })
    http.post('/', { schema: { body: Body } }, async () => ({}))
    url = await http.listen({ host: '127.0.0.1', port: await findFreePort() })
  })
  after(() => http.close())

  for (const [body, ...sentences] of SENTENCES) {
    test(`${JSON.stringify(body)}: ${sentences[0]}`, async () => {
      const answer = await send(url, { path: '/', body: JSON.stringify(body) })
      const { error } = readBody<{ error: { message: string; details: { message: string }[] } }>(answer, 400)
      assert.equal(error.message, sentences[0])
      assert.deepEqual(error.details.map(({ message }) => message).toSorted(), sentences.toSorted())
    })
  }
})
