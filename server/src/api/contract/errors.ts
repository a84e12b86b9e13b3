import { MESSAGES } from '../../http/to-problem.ts'
import { detailsOf, IssuesSchema } from '../../values/problem-details.ts'
import { PROBLEM_CODES, PROBLEM_STATUS, type ProblemType } from '../../values/problem.ts'
import { UNAUTHENTICATED_MESSAGE, type Requirements } from '../authenticate.ts'
import { headersOf } from './headers.ts'
import type { ErrorName } from './operation.ts'

/** The errors of every operation: any request can get them, whatever it asks for. */
const COMMON: readonly ErrorName[] = [
  'validation_failed',
  'unauthenticated',
  'https_required',
  'key_held',
  'workspace_moved',
  'workspace_moving',
  'rate_limit_exceeded',
  'internal',
  'unavailable',
]

/** The general messages of the errors without a code. A response may contain a more specific message. */
const SENTENCES: Readonly<Record<string, string>> = {
  validation_failed: 'The request is not valid. details lists the members that are wrong.',
  unauthenticated: UNAUTHENTICATED_MESSAGE,
  not_found: 'There is no such resource in this workspace and mode.',
  internal: 'Something went wrong on our side. If it happens again, contact the server operator.',
  ...MESSAGES,
}

const STATUS_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The API key or access token is missing, malformed, expired or revoked.',
  403: 'The credential does not allow this request, or a limit rejected it. `details` says what would be allowed.',
  404: 'Not found in this workspace and mode.',
  409: 'The current state of the resource does not allow this request.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not JSON.',
  421: 'The workspace is on other servers.',
  429: 'Too many requests. Retry after the time in the `Retry-After` header.',
  500: 'The service or the enclave failed.',
  502: 'The resource did not respond.',
  503: 'The service is temporarily unavailable. Nothing was recorded.',
}

/** The properties of an operation that determine its errors. */
export interface Failing {
  readonly errors: readonly ErrorName[]
  readonly requirements: Pick<Requirements, 'scope' | 'unrestrictedKeyOnly'>
  readonly hasBody: boolean
  readonly hasPathParameters: boolean
}

/**
 * Returns every error that an operation can respond with: the errors of all operations, the errors that its
 * requirements, body and path imply, and the errors that it declares.
 */
export function listErrors({ errors, requirements, hasBody, hasPathParameters }: Failing): readonly ErrorName[] {
  const implied: readonly (ErrorName | false)[] = [
    requirements.scope !== undefined && 'insufficient_scope',
    requirements.unrestrictedKeyOnly === true && 'api_key_required',
    hasBody && 'payload_too_large',
    hasBody && 'unsupported_media_type',
    // If a path parameter is too long, or not well-formed, no route matches.
    hasPathParameters && 'not_found',
  ]
  return [...new Set([...COMMON, ...implied.filter((name) => name !== false), ...errors])]
}

/** Errors whose status says nothing about a retry, but which say when to retry. */
const RETRIED: readonly ErrorName[] = ['privy_call_failed', 'evidence_not_ready']

/** Returns the descriptions of the responses with these errors, by status. */
export function describeResponses(errors: readonly ErrorName[]): Readonly<Record<string, object>> {
  const statuses = [...new Set(errors.map(statusOf))].toSorted((one, other) => one - other)
  return Object.fromEntries(
    statuses.map((status) => {
      const names = errors.filter((name) => statusOf(name) === status)
      const schemas = names.map((name) => ({ $ref: `#/components/schemas/${schemaNameOf(name)}` }))
      const [first = {}] = schemas
      const content = {
        schema: {
          type: 'object',
          required: ['error'],
          properties: { error: schemas.length === 1 ? first : { oneOf: schemas } },
        },
        examples: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/examples/${name}` }])),
      }
      const headers = Object.fromEntries(
        [...headersOf(status), ...(names.some((name) => RETRIED.includes(name)) ? ['Retry-After'] : [])].map((name) => [
          name,
          { $ref: `#/components/headers/${name}` },
        ]),
      )
      const description = STATUS_DESCRIPTIONS[status] ?? ''
      return [status, { description, headers, content: { 'application/json': content } }]
    }),
  )
}

/**
 * No value has both types, so no value is valid. Generators of TypeScript clients turn this schema into `string & null`,
 * which is `never`. They do not agree about the shorter schemas: some of them leave out a member whose schema is
 * `false`, or give it the type `unknown`.
 */
const NOTHING = { allOf: [{ type: 'string' }, { type: 'null' }], description: 'This error has no code.' }

/**
 * Returns the schema of an error: its type, its code and the shape of its details. An error without a code declares the
 * member `code` too, and that it is never present. Otherwise a program could not read `code` from a union of errors.
 */
export function describeError(name: ErrorName): object {
  const { type, message, code } = factsOf(name)
  const details = code === undefined ? issuesOf(name) : detailsOf(code)
  const described = code === undefined ? 'This error has no code.' : `The code \`${code}\`.`
  return {
    type: 'object',
    title: schemaNameOf(name),
    description: `${message} ${described}`,
    required: [
      'type',
      'message',
      ...(code === undefined ? [] : ['code']),
      ...(details?.isRequired === true ? ['details'] : []),
    ],
    properties: {
      type: { type: 'string', const: type, description: 'The general kind of error, which determines the status.' },
      message: { type: 'string', description: 'A sentence for people. It contains no personal data.' },
      code: code === undefined ? NOTHING : { type: 'string', const: code, description: 'The specific error.' },
      ...(details === null ? {} : { details: details.schema }),
    },
  }
}

/**
 * Returns the schemas of these errors, and then the schema of a value that is any one of them. The `$id` of each schema
 * is its name. A route's response schema can refer to it.
 */
export function describeChoice(
  choice: { readonly $id: string; readonly description: string },
  names: readonly ErrorName[],
): readonly object[] {
  const errors = names.map((name) => ({ $id: schemaNameOf(name), ...describeError(name) }))
  const oneOf = errors.map(({ $id }) => ({ $ref: `${$id}#` }))
  return [...errors, { ...choice, title: choice.$id, oneOf }]
}

/** Returns an example of an error's whole body. */
export function describeExample(name: ErrorName): object {
  const { type, message, code } = factsOf(name)
  const details = code === undefined ? issuesOf(name) : detailsOf(code)
  const [example] = ((details?.schema ?? {}) as { readonly examples?: readonly unknown[] }).examples ?? []
  const members = { ...(code === undefined ? {} : { code }), ...(example === undefined ? {} : { details: example }) }
  return { summary: message, value: { error: { type, message, ...members } } }
}

/** `agent_not_found` becomes `AgentNotFoundError`. */
export function schemaNameOf(name: ErrorName): string {
  const words = name.split('_').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
  return `${words.join('')}Error`
}

function statusOf(name: ErrorName): number {
  return PROBLEM_STATUS[factsOf(name).type]
}

interface ErrorFacts {
  readonly type: ProblemType
  readonly message: string
  readonly code?: string
}

function factsOf(name: ErrorName): ErrorFacts {
  if (!(name in PROBLEM_CODES)) return { type: name as ProblemType, message: SENTENCES[name] ?? '' }
  const [type, message] = PROBLEM_CODES[name as keyof typeof PROBLEM_CODES]
  return { type, message, code: name }
}

/** A 400 error without a code lists its issues, if the body could be read at all. */
function issuesOf(name: ErrorName) {
  return name === 'validation_failed' ? { schema: IssuesSchema, isRequired: false } : null
}
