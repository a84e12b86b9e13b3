import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { seed, type Seed } from '../support/context/seed.ts'
import { expectError } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly format?: string }
}

/** `encodeURIComponent` would encode the `+`. Programs that build a query by hand often do not. */
const UNENCODED = '2026-03-01T12:00:00+05:30'

describe('every parameter that takes a time', () => {
  let given: TestService
  let seeded: Seed
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
  })
  after(() => given.close())

  test('says how to write an unencoded +, which arrives as a space', async () => {
    const parameters = await listTimeParameters()
    assert.ok(parameters.length >= 4)
    for (const { path, name } of parameters) {
      const answer = await given.call({ path: `${path}?${name}=${UNENCODED}`, key: seeded.key })
      const { message } = expectError(answer, { type: 'validation_failed' })
      assert.match(message, new RegExp(`^\`${name}\` must be .*write it as %2B\\.$`), path)
      const encoded = `${path}?${name}=${encodeURIComponent(UNENCODED)}`
      assert.equal((await given.call({ path: encoded, key: seeded.key })).status, 200, path)
    }
  })
})

async function listTimeParameters(): Promise<readonly { readonly path: string; readonly name: string }[]> {
  const { paths } = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
    readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>>
  }
  return Object.entries(paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? [])
      .filter(({ in: place, schema }) => place === 'query' && schema.format === 'date-time')
      .map(({ name }) => ({ path, name })),
  )
}
