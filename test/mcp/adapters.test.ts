import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { seed, type Seed } from '../support/context/seed.ts'
import { NotConvertible, toGemini, toOpenAiStrict, type JsonSchema } from '../support/mcp-adapters.ts'
import { callTool, readRpc, sendMcp } from '../support/service/mcp-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

/**
 * A host may give the descriptions of all tools to a model at each turn. When this was written, they had 23,300 bytes,
 * of which the output schemas had 12,900.
 */
const DESCRIPTIONS_BYTES_MAX = 25_000
/** OpenAI's strict mode has no objects whose members have any name, so these tools are used without it. */
const NOT_STRICT = ['check_price', 'fetch_paid']
/** The keywords of an output schema. In particular, no `$ref`, no descriptions, and no rules that only we check. */
const OUTPUT_KEYWORDS = new Set(['type', 'properties', 'required', 'items', 'anyOf', 'enum'])
/** The Gemini API accepts no other name of a function or parameter. */
const NAME_PATTERN = /^[a-z_][a-z0-9_]{0,63}$/

interface ListedTool {
  readonly name: string
  readonly inputSchema: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> }
  readonly outputSchema: JsonSchema
}

/** Hosts convert the schemas of tools to those of their model (D72). */
describe('the schemas of the tools', () => {
  let given: TestService
  let seeded: Seed
  let tools: readonly ListedTool[]
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
    const { result } = readRpc(await sendMcp(given, { key: seeded.key, method: 'tools/list' }))
    tools = result?.['tools'] as ListedTool[]
    assert.ok(tools.length > 0)
  })
  after(() => given.close())

  test("the input schemas can be converted to OpenAI's strict mode, except for the headers of a purchase", () => {
    const failed = tools.filter(({ inputSchema }) => !isConvertible(() => toOpenAiStrict(inputSchema)))
    assert.deepEqual(
      failed.map(({ name }) => name),
      NOT_STRICT,
    )
    for (const { inputSchema } of failed) {
      const { headers, ...others } = inputSchema.properties
      assert.deepEqual(headers?.['additionalProperties'], { type: 'string' })
      toOpenAiStrict({ ...inputSchema, properties: others })
    }
  })

  test('a call in strict mode, with null for each optional argument, does what a call without them does', async () => {
    const args = { agent_id: seeded.agentId }
    for (const name of ['get_budget', 'list_wallets', 'list_ledger']) {
      const { properties } = toOpenAiStrict(tools.find((tool) => tool.name === name)?.inputSchema ?? {})
      const nulls = Object.fromEntries(Object.keys(properties ?? {}).map((argument) => [argument, null]))
      const answer = await callTool(given, seeded.key, name, { ...nulls, ...args })
      assert.deepEqual(answer, await callTool(given, seeded.key, name, args))
      assert.equal(answer.isError, false)
    }
  })

  test('the input schemas can be converted to those of the Gemini API', () => {
    for (const { name, inputSchema } of tools) {
      const converted = toGemini(inputSchema)
      assert.deepEqual(Object.keys(converted['properties'] ?? {}), Object.keys(inputSchema.properties))
      for (const one of [name, ...Object.keys(inputSchema.properties)]) assert.match(one, NAME_PATTERN)
    }
  })

  test('an output schema says the names, the types and which members are required, and nothing else', () => {
    for (const { name, outputSchema } of tools) {
      for (const schema of listSchemas(outputSchema)) {
        for (const keyword of Object.keys(schema)) assert.ok(OUTPUT_KEYWORDS.has(keyword), `${name}: ${keyword}`)
        assert.ok(!Array.isArray(schema['type']), `${name}: the Gemini API rejects a list of types`)
      }
    }
  })

  test('the descriptions of all tools are short', () => {
    const bytes = Buffer.byteLength(JSON.stringify(tools))
    assert.ok(bytes <= DESCRIPTIONS_BYTES_MAX, `${bytes} bytes`)
  })

  const samples: readonly (readonly [string, JsonSchema, readonly unknown[]])[] = [
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, [toOpenAiStrict]],
    [
      'a pattern of names',
      { type: 'object', properties: { a: {} }, patternProperties: {} },
      [toOpenAiStrict, toGemini],
    ],
    ['a reference', { $ref: '#/$defs/a' }, [toOpenAiStrict, toGemini]],
    ['a list of types', { type: ['string', 'null'] }, [toGemini]],
    ['a constant', { type: 'string', const: 'a' }, [toOpenAiStrict, toGemini]],
    [
      'a closed object',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
      [toGemini],
    ],
    ['a longest length', { type: 'string', maxLength: 3 }, [toOpenAiStrict, toGemini]],
  ]
  for (const [what, schema, rejecting] of samples) {
    test(`the conversions of this test know what adapters do with ${what}`, () => {
      for (const convert of [toOpenAiStrict, toGemini]) {
        assert.equal(
          isConvertible(() => convert(schema)),
          !rejecting.includes(convert),
          convert.name,
        )
      }
    })
  }
})

function isConvertible(convert: () => unknown): boolean {
  try {
    convert()
    return true
  } catch (error) {
    if (error instanceof NotConvertible) return false
    throw error
  }
}

/** Lists a schema and all schemas inside of it. */
function listSchemas(schema: JsonSchema): readonly JsonSchema[] {
  const { properties = {}, items, anyOf = [] } = schema
  const inside = [
    ...Object.values(properties as JsonSchema),
    ...(anyOf as unknown[]),
    ...(items === undefined ? [] : [items]),
  ]
  return [schema, ...inside.flatMap((one) => listSchemas(one as JsonSchema))]
}
