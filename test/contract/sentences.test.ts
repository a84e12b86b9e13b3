import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as api from '../../server/src/api/schemas.ts'
import { CONSOLE_ROUTES } from '../../server/src/console/contract/all-routes.ts'
import { PREDICATES } from '../../server/src/http/list-issues.ts'

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

function* listKeywords(schema: unknown): Generator<string> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [keyword, value] of Object.entries(schema)) {
    if (!SILENT.includes(keyword)) yield keyword
    if (keyword === 'properties') for (const inner of Object.values(value as object)) yield* listKeywords(inner)
    else if (keyword === 'items') yield* listKeywords(value)
    else if (keyword === 'anyOf') for (const inner of value as readonly unknown[]) yield* listKeywords(inner)
  }
}
