import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { renderOpenapi } from '../../server/scripts/render-openapi.ts'
import { PROBLEM_STATUS } from '../../server/src/values/problem.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json }
type Node = { readonly [member: string]: Json }

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

interface Operation {
  readonly path: string
  readonly node: Node
}

describe('openapi.json', () => {
  let rendered: string
  let contract: Node
  let operations: readonly Operation[]
  before(async () => {
    rendered = await renderOpenapi()
    contract = JSON.parse(rendered) as Node
    operations = Object.entries(at(contract, 'paths')).flatMap(([path, item]) =>
      Object.values(item as Node).map((node) => ({ path, node: node as Node })),
    )
  })

  test('what is committed is what the routes make: after a change run npm run openapi', async () => {
    const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
    assert.equal(committed, rendered)
  })

  test('it is OpenAPI 3.1, and holds the endpoints of the specification, part 4', () => {
    assert.match(textAt(contract, 'openapi'), /^3\.1\.\d+$/)
    for (const member of ['title', 'version']) assert.equal(typeof at(contract, 'info')[member], 'string')
    const routes = Object.entries(at(contract, 'paths')).flatMap(([path, item]) =>
      Object.keys(item as Node).map((method) => `${method} ${path}`),
    )
    assert.deepEqual(routes.toSorted(), [
      'get /v1/agents',
      'get /v1/agents/{id}',
      'get /v1/events',
      'get /v1/events/{id}',
      'get /v1/me',
      'get /v1/payments/{id}',
      'post /v1/agents',
      'post /v1/payments',
    ])
  })

  test('every operation has an id of its own, a summary, and its path’s parameters', () => {
    const ids = operations.map(({ node }) => node['operationId'])
    assert.equal(new Set(ids).size, operations.length)
    for (const { path, node } of operations) {
      assert.match(textAt(node, 'operationId'), /^[a-z][A-Za-z]+$/)
      assert.ok(textAt(node, 'summary').length > 5)
      const parameters = (node['parameters'] ?? []) as readonly Node[]
      const inPath = parameters.filter((parameter) => parameter['in'] === 'path')
      assert.deepEqual(
        inPath.map(({ name, required }) => [name, required]),
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true]),
      )
    }
  })

  test('every operation tells its success, and its failures as the error envelope, each in words', () => {
    const statuses = Object.values(PROBLEM_STATUS).map(String)
    for (const { path, node } of operations) {
      const responses = Object.entries(at(node, 'responses')) as [string, Node][]
      assert.equal(responses.filter(([status]) => /^20[01]$/.test(status)).length, 1, path)
      for (const [status, response] of responses) {
        assert.doesNotMatch(textAt(response, 'description'), /^(Default Response|)$/, `${path} ${status}`)
        const { schema } = at(at(response, 'content'), 'application/json')
        if (!status.startsWith('2')) {
          assert.ok(statuses.includes(status))
          assert.deepEqual(schema, { $ref: '#/components/schemas/Error' })
        }
      }
      for (const status of ['401', '429', '500', '503']) assert.ok(status in at(node, 'responses'), `${path} ${status}`)
    }
  })

  test('every reference leads somewhere, every type is one of JSON Schema, and nothing of OpenAPI 3.0 is left', () => {
    let references = 0
    for (const node of walk(contract)) {
      const { $ref, type, required, properties } = node
      if (typeof $ref === 'string') {
        references += 1
        const steps = $ref.split('/').slice(1)
        assert.ok(
          steps.reduce<Json | undefined>((found, step) => (found as Node | undefined)?.[step], contract),
          $ref,
        )
      }
      if (typeof type === 'string' && !('in' in node) && !('scheme' in node) && !('flows' in node))
        assert.ok(TYPES.includes(type), type)
      assert.ok(!('nullable' in node))
      if (Array.isArray(required) && properties !== undefined) {
        for (const name of required) assert.ok(String(name) in (properties as Node), String(name))
      }
    }
    assert.ok(references > 10)
  })

  test('every operation asks for a credential that is described', () => {
    const schemes = at(at(contract, 'components'), 'securitySchemes')
    const used = (contract['security'] as readonly Node[]).flatMap((requirement) => Object.keys(requirement))
    assert.deepEqual(used, Object.keys(schemes))
    for (const { node } of operations) assert.ok(!('security' in node))
  })
})

function at(node: Node, member: string): Node {
  const value = node[member]
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), member)
  return value as Node
}

function textAt(node: Node, member: string): string {
  const value = node[member]
  assert.ok(typeof value === 'string', member)
  return value
}

function* walk(value: Json): Generator<Node> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Node
  for (const inner of Object.values(value)) yield* walk(inner as Json)
}
