import assert from 'node:assert/strict'
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import { renderOpenapi } from '../../../server/scripts/render-openapi.ts'
import type { Answer, Call } from '../http-client.ts'
import type { Received } from '../wires/receiver.ts'

type Json = Readonly<Record<string, unknown>>

interface Response {
  readonly headers: Json
  readonly content?: Json
}

interface Operation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly pattern: RegExp
  readonly responses: Readonly<Record<string, Response>>
}

export interface ContractCheck {
  /**
   * The errors that the contract declares, and those that were checked, each as `createPayment 403 amount_too_large`.
   */
  readonly declared: readonly string[]
  readonly seen: ReadonlySet<string>
  /** Throws if the response to a `/v1` request is not one that the contract describes. */
  check(call: Call, answer: Answer): void
  /** Throws if the body of a webhook request, or one of its webhook headers, does not match the contract. */
  checkDelivery(delivery: Pick<Received, 'headers' | 'body'>): void
}

/** The contract with its compiled schemas. All services of a process share it, because compiling takes long. */
interface Contract {
  readonly operations: readonly Operation[]
  /** The names of the headers of responses, and those of webhook requests. */
  readonly headers: readonly string[]
  readonly webhookHeaders: readonly string[]
  /** Returns the schema at a JSON pointer whose steps are not yet escaped. */
  readonly schemaAt: (...steps: readonly string[]) => ValidateFunction | undefined
}

let opened: Promise<Contract> | null = null

async function openContract(): Promise<Contract> {
  const contract = JSON.parse(await renderOpenapi()) as Json
  forbidOtherMembers(contract)
  const ajv = new Ajv2020.default({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    // Most of the compiled code runs only a few times, so optimizing it would cost more than it saves.
    code: { optimize: false },
  })
  ajv.addSchema(contract, 'contract')
  const { headers, parameters } = contract['components'] as { readonly headers: Json; readonly parameters: Json }
  return {
    operations: listOperations(contract),
    headers: Object.keys(headers),
    webhookHeaders: Object.keys(parameters),
    // Ajv keeps each schema that it has compiled.
    schemaAt: (...steps) => ajv.getSchema(`contract#/${steps.map((step) => step.replaceAll('/', '~1')).join('/')}`),
  }
}

/**
 * Opens a check of responses against the contract that the routes generate: the status, the code, the exact members of
 * an error and its details, and the headers with their types.
 */
export async function openContractCheck(): Promise<ContractCheck> {
  opened ??= openContract()
  const { operations, headers, webhookHeaders, schemaAt } = await opened
  const seen = new Set<string>()

  return {
    declared: operations.flatMap(listDeclared),
    seen,
    check(call, answer) {
      const method = (call.method ?? (call.body === undefined ? 'GET' : 'POST')).toLowerCase()
      const [path = ''] = call.path.split('?')
      const operation = operations.find((one) => one.method === method && one.pattern.test(path))
      if (operation === undefined) return
      const status = String(answer.status)
      const name = `${operation.operationId} ${status}`
      const response = operation.responses[status]
      assert.ok(response !== undefined, `${name} is not in the contract: ${answer.text}`)
      const body = JSON.parse(answer.text) as { readonly error?: { readonly type: string; readonly code?: string } }
      const steps = ['paths', operation.path, method, 'responses', status, 'content', 'application/json', 'schema']
      const validate = schemaAt(...steps)
      assert.ok(validate?.(body) === true, `${name}: ${JSON.stringify(validate?.errors)} ${answer.text}`)
      for (const header of headers) checkHeader({ name: `${name} ${header}`, answer, header, response })
      if (body.error !== undefined) seen.add(`${name} ${body.error.code ?? body.error.type}`)
    },
    checkDelivery({ headers: given, body }) {
      const event = JSON.parse(String(body)) as { readonly type: string }
      const steps = ['webhooks', event.type, 'post', 'requestBody', 'content', 'application/json', 'schema']
      const validate = schemaAt(...steps)
      assert.ok(validate?.(event) === true, `${event.type}: ${JSON.stringify(validate?.errors)} ${String(body)}`)
      for (const name of webhookHeaders) checkWebhookHeader(name, given[name.toLowerCase()])
    },
  }

  function checkWebhookHeader(name: string, text: unknown): void {
    const validate = schemaAt('components', 'parameters', name, 'schema')
    const value = /^\d+$/.test(String(text)) ? Number(text) : text
    assert.ok(validate?.(value) === true, `${name}: ${JSON.stringify(validate?.errors)} ${String(text)}`)
  }

  function checkHeader(given: { name: string; answer: Answer; header: string; response: Response }): void {
    const { name, answer, header, response } = given
    const text = answer.headers[header.toLowerCase()]
    if (text === undefined) return
    assert.ok(header in response.headers, `${name} is not in the contract`)
    const validate = schemaAt('components', 'headers', header, 'schema')
    const value = /^\d+$/.test(String(text)) ? Number(text) : text
    assert.ok(validate?.(value) === true, `${name}: ${JSON.stringify(validate?.errors)} ${String(text)}`)
  }
}

/** Makes the schemas of errors exact, so that a member that the contract does not name is found. */
function forbidOtherMembers(contract: Json): void {
  const { schemas } = contract['components'] as { schemas: Readonly<Record<string, Record<string, unknown>>> }
  for (const [name, schema] of Object.entries(schemas)) {
    if (!name.endsWith('Error')) continue
    schema['additionalProperties'] = false
    const { details } = schema['properties'] as { details?: Record<string, unknown> }
    if (details?.['type'] === 'object') details['additionalProperties'] = false
  }
}

function listOperations(contract: Json): Operation[] {
  return Object.entries(contract['paths'] as Readonly<Record<string, Json>>).flatMap(([path, item]) =>
    Object.entries(item as Readonly<Record<string, Pick<Operation, 'operationId' | 'responses'>>>).map(
      ([method, { operationId, responses }]) => {
        const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
        return { operationId, method, path, pattern, responses }
      },
    ),
  )
}

function listDeclared({ operationId, responses }: Operation): string[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { content }]) => {
      const { examples } = (content as Readonly<Record<string, { examples: Json }>>)['application/json'] ?? {}
      return Object.keys(examples ?? {}).map((name) => `${operationId} ${status} ${name}`)
    })
}
