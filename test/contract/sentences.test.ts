import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as api from '../../server/src/api/schemas.ts'
import { CONSOLE_ROUTES } from '../../server/src/console/contract/all-routes.ts'
import { PURCHASE_REFUSAL_CODES } from '../../server/src/domain/payment-requests/admission-refusal.ts'
import { PREDICATES } from '../../server/src/http/list-issues.ts'
import { detailsOf } from '../../server/src/values/problem-details.ts'
import { PROBLEM_CODES } from '../../server/src/values/problem.ts'

/** Members of a schema that can cause no error themselves. They only contain other schemas, or describe the value. */
const SILENT = ['properties', 'items', 'description', 'examples', 'default', 'title', '$id', '$ref']

test('each keyword of a schema that checks requests has a sentence of its own', () => {
  const checked = [
    ...CONSOLE_ROUTES.map(({ schema }) => schema as Readonly<Record<string, unknown>>).flatMap((schema) =>
      ['body', 'params', 'querystring'].map((part) => schema[part]),
    ),
    ...Object.entries(api).flatMap(([name, schema]) => (name.endsWith('Body') ? [schema] : [])),
  ]
  const keywords = new Set(checked.flatMap((schema) => [...listKeywords(schema)]))
  assert.ok(keywords.has('maxLength') && keywords.has('anyOf'))
  const unknown = [...keywords].filter((keyword) => !(keyword in PREDICATES) && keyword !== 'anyOf')
  assert.deepEqual(unknown, [], 'add these keywords to PREDICATES in server/src/http/list-issues.ts')
})

test('the message of every error code says what happened, and then what to do', () => {
  const short = Object.entries(PROBLEM_CODES).flatMap(([code, [, message]]) =>
    /[.;:] \S/.test(message) && message.endsWith('.') ? [] : [code],
  )
  assert.deepEqual(short, [], 'add a second sentence to these messages in server/src/values/problem.ts')
})

/** The refusals whose message and request say everything, so that they have no details. */
const WITHOUT_DETAILS = ['agent_not_authorized', 'agent_not_found', 'wallet_not_found', 'purchases_not_allowed']

test('every other refusal of a payment has details, which say why', () => {
  const bare = PURCHASE_REFUSAL_CODES.filter((code) => detailsOf(code)?.isRequired !== true)
  assert.deepEqual(bare, WITHOUT_DETAILS)
})

function* listKeywords(schema: unknown): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [keyword, value] of Object.entries(schema)) {
    if (!SILENT.includes(keyword)) yield keyword
    if (keyword === 'properties') for (const inner of Object.values(value as object)) yield* listKeywords(inner)
    else if (keyword === 'items') yield* listKeywords(value)
    else if (keyword === 'anyOf') for (const inner of value as readonly unknown[]) yield* listKeywords(inner)
  }
}
