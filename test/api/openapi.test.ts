import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { renderOpenapi } from '../../server/scripts/render-openapi.ts'
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../../server/src/domain/events/event.ts'
import { PROBLEM_CODES, PROBLEM_STATUS } from '../../server/src/values/problem.ts'

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

  test('the committed file is the one that the routes produce: after a change, run npm run openapi', async () => {
    const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8')
    assert.equal(committed, rendered)
  })

  test('it is OpenAPI 3.1, and contains the endpoints of the specification, part 4', () => {
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
      'get /v1/ledger',
      'get /v1/me',
      'get /v1/payments/{id}',
      'get /v1/payments/{id}/evidence',
      'get /v1/wallets',
      'get /v1/wallets/{address}',
      'post /v1/agents',
      'post /v1/payments',
      'post /v1/payments/preview',
      'post /v1/x402/check',
      'post /v1/x402/pay',
      'post /v1/x402/sign',
    ])
  })

  test('every operation has its own id, a summary, and the parameters of its path', () => {
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

  test('every operation describes its success, and each error by a schema and an example of its own', () => {
    for (const { path, node } of operations) {
      const responses = Object.entries(at(node, 'responses')) as [string, Node][]
      assert.equal(responses.filter(([status]) => /^20[01]$/.test(status)).length, 1, path)
      for (const [status, response] of responses) {
        assert.doesNotMatch(textAt(response, 'description'), /^(Default Response|)$/, `${path} ${status}`)
        const content = at(at(response, 'content'), 'application/json')
        if (status.startsWith('2')) continue
        const error = at(at(at(content, 'schema'), 'properties'), 'error')
        const schemas = ((error['oneOf'] ?? [error]) as readonly Node[]).map((schema) =>
          resolve(textAt(schema, '$ref')),
        )
        const examples = Object.values(at(content, 'examples')).map((example) =>
          resolve(textAt(example as Node, '$ref')),
        )
        assert.equal(schemas.length, examples.length)
        for (const [index, schema] of schemas.entries()) {
          const { type, code, details } = at(schema, 'properties') as Readonly<Record<string, Node | undefined>>
          const example = at(at(examples[index] ?? {}, 'value'), 'error')
          assert.deepEqual([type?.['const'], code?.['const']], [example['type'], example['code']])
          assert.equal(PROBLEM_STATUS[textAt(example, 'type') as keyof typeof PROBLEM_STATUS], Number(status))
          assert.equal(details === undefined, example['details'] === undefined, textAt(schema, 'title'))
        }
      }
      for (const status of ['400', '401', '403', '429', '500', '503']) {
        assert.ok(status in at(node, 'responses'), `${path} ${status}`)
      }
    }
  })

  test('no code that only the dashboard uses is part of the contract', () => {
    for (const code of ['cross_origin', 'verification_required', 'grant_exists', 'passkey_unknown', 'owner_exists']) {
      assert.ok(!rendered.includes(code), code)
    }
  })

  test('every code of the contract is used outside the files that only declare it', async () => {
    const codes = Object.keys(at(at(contract, 'components'), 'examples')).filter((name) => name in PROBLEM_CODES)
    const root = new URL('../../server/src/', import.meta.url)
    const declaring = /^(values.problem|api.contract|api.routes)|test\.ts$/
    const files = (await readdir(root, { recursive: true })).filter(
      (file) => file.endsWith('.ts') && !declaring.test(file),
    )
    const texts = await Promise.all(files.map((file) => readFile(new URL(file, root), 'utf8')))
    const unused = codes.filter((code) => !texts.some((text) => text.includes(`'${code}'`)))
    assert.ok(codes.length > 15)
    assert.deepEqual(unused, [])
  })

  test('headers have a type and a unit', () => {
    const headers = at(at(contract, 'components'), 'headers')
    const unitOf = (name: string) =>
      `${textAt(at(at(headers, name), 'schema'), 'type')} ${textAt(at(headers, name), 'description')}`
    assert.match(unitOf('X-RateLimit-Reset'), /^integer .*milliseconds/)
    assert.match(unitOf('Retry-After'), /^integer .*seconds/)
    assert.match(unitOf('Service-Rotation-Grace-Until'), /^string .*ISO 8601/)
    for (const { node } of operations) {
      const responses = at(node, 'responses')
      assert.ok('Retry-After' in at(at(responses, '429'), 'headers'))
      assert.ok('WWW-Authenticate' in at(at(responses, '401'), 'headers'))
    }
  })

  test('there is a webhook for each event type, with its own schema and a signature', () => {
    const webhooks = at(contract, 'webhooks')
    assert.deepEqual(Object.keys(webhooks), [...EVENT_TYPES, TEST_EVENT_TYPE])
    for (const [type, item] of Object.entries(webhooks)) {
      const post = at(item as Node, 'post')
      const { schema } = at(at(at(post, 'requestBody'), 'content'), 'application/json') as { schema: Node }
      assert.equal(at(at(resolve(textAt(schema, '$ref')), 'properties'), 'type')['const'], type)
      const parameters = (post['parameters'] as readonly Node[]).map((parameter) => resolve(textAt(parameter, '$ref')))
      assert.ok(parameters.some(({ name }) => name === 'Service-Signature'))
      assert.deepEqual(post['security'], [])
    }
  })

  test('every operation, parameter and member has a description or a reference', () => {
    for (const { path, node } of operations) {
      assert.ok(textAt(node, 'description').length > 20, path)
      for (const parameter of (node['parameters'] ?? []) as readonly Node[]) textAt(parameter, 'description')
    }
    const schemas = Object.entries(at(at(contract, 'components'), 'schemas')) as [string, Node][]
    for (const [name, schema] of schemas) {
      for (const [member, described] of Object.entries((schema['properties'] ?? {}) as Node)) {
        const { description, $ref } = described as Node
        assert.ok(description !== undefined || $ref !== undefined, `${name}.${member}`)
      }
    }
  })

  test('every reference resolves, every type is one of JSON Schema, and nothing of OpenAPI 3.0 is left', () => {
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

  test('every operation says which credentials and which scope it needs; the origin of the service is a variable', () => {
    const schemes = Object.keys(at(at(contract, 'components'), 'securitySchemes'))
    const needed = Object.fromEntries(operations.map(({ node }) => [textAt(node, 'operationId'), node['security']]))
    assert.deepEqual(needed['createPayment'], [{ apiKey: [] }, { accessToken: ['wallet:transfer'] }])
    assert.deepEqual(needed['getPayment'], [{ apiKey: [] }, { accessToken: [] }])
    assert.deepEqual(needed['createAgent'], [{ apiKey: [] }])
    for (const security of Object.values(needed)) {
      for (const name of (security as readonly Node[]).flatMap(Object.keys)) assert.ok(schemes.includes(name))
    }
    assert.deepEqual(
      (contract['servers'] as readonly Node[]).map(({ url }) => url),
      ['{origin}'],
    )
  })

  function resolve(reference: string): Node {
    return reference
      .split('/')
      .slice(1)
      .reduce((found, step) => at(found, step), contract)
  }
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
  // Examples are values, not schemas.
  for (const [member, inner] of Object.entries(value)) if (member !== 'examples') yield* walk(inner as Json)
}
