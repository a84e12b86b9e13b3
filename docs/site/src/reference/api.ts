import { nameOf, type Contract, type Operation, type Parameter, type Reference, type Schema } from './contract.ts'
import { describeLimits, describeType, listMembers, tableRow } from './describe-schema.ts'
import { EXAMPLES } from './examples.ts'

type Generated = {
  readonly path: string
  readonly title: string
  readonly description: string
  readonly markdown: string
}

const COLUMNS = '| name | type | meaning |\n| --- | --- | --- |'
const SET_UP = '```bash\neval "$(npm run -s sandbox:env)"\n```\n'

/** Writes the reference of `/v1`: one page for each tag of `openapi.json`, and one with the objects. */
export function writeApiReference(text: string): readonly Generated[] {
  const contract = JSON.parse(text) as Contract
  const pages = contract.tags.map(({ name, description }) => ({
    path: `reference/${name.toLowerCase()}`,
    title: `API: ${name.toLowerCase()}`,
    description,
    markdown: name === 'Webhooks' ? writeWebhooks(contract) : writeOperations(contract, name),
  }))
  return [...pages, writeObjects(contract)]
}

/** The options of the code blocks with the examples of these operations. */
const BLOCK_OPTIONS: Readonly<Record<string, string>> = {
  // The example requests a resource without a payment, so the resource responds with 402.
  signForResource: ' errors="402"',
  getPaymentEvidence: ' not-run="evidence exists some minutes after the owner has signed"',
}

function writeOperations(contract: Contract, tag: string): string {
  const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => writeOperation(contract, `${method.toUpperCase()} ${path}`, operation)),
  )
  return `The examples need a running [sandbox](../sandbox.md). This command reads its addresses and its demo key:\n\n${SET_UP}\n${operations.join('\n')}`
}

function writeOperation(contract: Contract, request: string, operation: Operation): string {
  const { operationId, summary, description, parameters = [], requestBody, responses, security = [] } = operation
  const body = requestBody?.content['application/json']?.schema
  const example = EXAMPLES[operationId]
  if (example === undefined) throw new Error(`docs/site/src/reference/examples.ts has no example of ${operationId}`)
  const option = BLOCK_OPTIONS[operationId] ?? ''
  return [
    `## ${summary}\n\n\`${request}\`\n\n${description ?? ''}\n`,
    `**Credential:** ${describeSecurity(security)}\n`,
    `\`\`\`bash${option}\n${example.trim()}\n\`\`\`\n`,
    parameters.length === 0 ? '' : `### Parameters of ${request}\n\n${writeParameters(contract, parameters)}\n`,
    body === undefined ? '' : `### Request body of ${request}\n\n${COLUMNS}\n${listMembers(body).join('\n')}\n`,
    `### Responses of ${request}\n\n${writeResponses(responses)}\n`,
  ].join('\n')
}

function describeSecurity(security: NonNullable<Operation['security']>): string {
  return security
    .flatMap((option) => Object.entries(option))
    .map(([scheme, scopes]) => {
      if (scheme === 'apiKey') return 'an API key'
      return scopes.length === 0 ? 'an access token' : `an access token with the scope \`${scopes.join('`, `')}\``
    })
    .join(', or ')
    .concat('.')
}

function writeParameters(contract: Contract, parameters: readonly (Parameter | Reference)[]): string {
  const rows = parameters.map((given) => {
    const parameter = '$ref' in given ? contract.components.parameters[nameOf(given.$ref)] : given
    if (parameter === undefined) throw new Error('a parameter of openapi.json is missing')
    const { name, in: place, required, schema, description = '' } = parameter
    const limits = describeLimits(schema)
    const meaning = limits === '' ? description : `${description} Allowed: ${limits}.`
    return tableRow([`\`${name}\` (${place}${required === true ? '' : ', optional'})`, describeType(schema), meaning])
  })
  return `${COLUMNS}\n${rows.join('\n')}\n`
}

/** A table of all responses. Each error code is a link to the advice for that error. */
function writeResponses(responses: Operation['responses']): string {
  const rows = Object.entries(responses).map(([status, { description = '', content }]) => {
    const schema = content?.['application/json']?.schema
    const error = schema?.properties?.['error']
    const what = error === undefined ? describeBody(schema) : listCodes(error).join(', ')
    return tableRow([status, description, what])
  })
  return `| status | meaning | body, or codes |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

function describeBody(schema: Schema | undefined): string {
  const members = Object.entries(schema?.properties ?? {})
  return members.map(([name, member]) => `\`${name}\`: ${describeType(member)}`).join(', ')
}

function listCodes(error: Schema): readonly string[] {
  return (error.oneOf ?? error.anyOf ?? [error]).map(describeType)
}

function writeWebhooks({ webhooks, components }: Contract): string {
  const rows = Object.entries(webhooks).flatMap(([type, { post }]) => {
    const schema = post?.requestBody?.content['application/json']?.schema
    return post === undefined ? [] : [tableRow([`\`${type}\``, post.summary, describeType(schema ?? {})])]
  })
  const headers = Object.values(components.parameters).map(({ name, description = '' }) =>
    tableRow([`\`${name}\``, description]),
  )
  const responses = Object.entries(Object.values(webhooks)[0]?.['post']?.responses ?? {})
  return [
    'The service sends these requests to your webhook endpoints. [Webhooks](../webhooks.md) has a receiver to copy.\n',
    `## Event types\n\n| type | when | body |\n| --- | --- | --- |\n${rows.join('\n')}\n`,
    `## Headers of a delivery\n\n| header | meaning |\n| --- | --- |\n${headers.join('\n')}\n`,
    `## What your response means\n\n| status | meaning |\n| --- | --- |\n${responses.map(([status, { description = '' }]) => tableRow([status, description])).join('\n')}\n`,
  ].join('\n')
}

function writeObjects({ components }: Contract): Generated {
  const objects = Object.entries(components.schemas)
    .filter(([name]) => !name.endsWith('Error'))
    .map(([name, schema]) => `## ${name}\n\n${schema.description ?? ''}\n\n${writeShape(schema)}\n`)
  return {
    path: 'reference/objects',
    title: 'API: objects',
    description: 'The objects in responses and events, with all their members.',
    markdown: `Amounts are decimal strings. Times are ISO 8601 in UTC. Members can be added, so ignore those that you do not know.\n\n${objects.join('\n')}`,
  }
}

function writeShape(schema: Schema): string {
  const variants = schema.oneOf ?? schema.anyOf
  if (variants === undefined) return `${COLUMNS}\n${listMembers(schema).join('\n')}`
  if (variants.every(({ $ref }) => $ref !== undefined)) return `One of: ${variants.map(describeType).join(', ')}.`
  return variants
    .map((variant) => `${variant.description ?? ''}\n\n${COLUMNS}\n${listMembers(variant).join('\n')}\n`)
    .join('\n')
}
