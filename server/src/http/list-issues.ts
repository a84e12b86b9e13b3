import type { FastifyError } from 'fastify'
import { issueOf } from '../values/invalid-request.ts'
import type { InvalidField } from '../values/problem-details.ts'
import { TIME_RULE } from '../values/time.ts'
import { shortenText } from '../lib/cut-text.ts'

/** An error of the JSON Schema validator. `parentSchema` is the schema that contains the failed keyword. */
type SchemaError = NonNullable<FastifyError['validation']>[number] & { readonly parentSchema?: Schema }

interface Schema {
  readonly type?: string
  readonly anyOf?: readonly Schema[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
}

/**
 * An error shows at most this many characters of a member's name, because a body can contain members with long names.
 */
const MEMBER_CHARS_MAX = 64

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

/** Completes the sentence that begins with the member's name. */
type Describe = (params: Readonly<Record<string, unknown>>, schema: Schema) => string

/** A sentence for each keyword that our schemas use. */
export const PREDICATES: Readonly<Record<string, Describe>> = {
  required: () => 'is required',
  additionalProperties: () => 'is not a member of this request',
  type: ({ type }, schema) => `must be ${TYPE_NAMES[String(type)] ?? String(type)}${suchAs(schema)}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  enum: ({ allowedValues }) => oneOf(Array.isArray(allowedValues) ? allowedValues : []),
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'character', 'characters')}`,
  maxLength: ({ limit }) => `must have at most ${count(limit, 'character', 'characters')}`,
  pattern: (_, schema) => `does not have the required form${suchAs(schema)}`,
  format: ({ format }) => (format === 'date-time' ? TIME_RULE : `must have the format ${String(format)}`),
  minimum: describeRange,
  maximum: describeRange,
  minItems: ({ limit }) => `must have at least ${count(limit, 'entry', 'entries')}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, 'entry', 'entries')}`,
  uniqueItems: () => 'must not contain the same entry twice',
}

/**
 * Describes the errors of the JSON Schema validator. An issue has the path of the invalid member, and a sentence that
 * begins with this path. A value that matches no schema of an `anyOf` gets one issue, not one for each schema.
 */
export function listIssues(errors: readonly SchemaError[]): InvalidField[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf')
  return errors
    .filter((error) => !choices.some((choice) => isPartOf(error, choice)))
    .map((error) => issueOf(pathOf(error), error.keyword === 'anyOf' ? describeChoice(error, errors) : describe(error)))
}

/** Returns whether an error comes from one of the schemas of the `anyOf` that `choice` reports. */
function isPartOf({ schemaPath }: SchemaError, choice: SchemaError): boolean {
  return schemaPath.startsWith(`${choice.schemaPath}/`)
}

function describe({ keyword, params, parentSchema = {}, message = 'is not valid' }: SchemaError): string {
  return PREDICATES[keyword]?.(params, parentSchema) ?? message
}

/** An `anyOf` is either a list of constants, or a schema that also allows null. */
function describeChoice(choice: SchemaError, errors: readonly SchemaError[]): string {
  const schemas = choice.parentSchema?.anyOf ?? []
  const values = schemas.flatMap((schema) => ('const' in schema ? [schema.const] : (schema.enum ?? [])))
  if (values.length >= schemas.length) return oneOf(values)
  const other = errors.find(
    (error) => isPartOf(error, choice) && error.keyword !== 'anyOf' && error.params['type'] !== 'null',
  )
  if (other === undefined) return 'does not have an allowed form'
  return other.keyword === 'type' ? `${describe(other)} or null` : describe(other)
}

function describeRange(_: unknown, { minimum, maximum, type = 'number' }: Schema): string {
  const number = TYPE_NAMES[type] ?? 'a number'
  if (minimum === undefined) return `must be ${number} of at most ${maximum}`
  return maximum === undefined
    ? `must be ${number} of at least ${minimum}`
    : `must be ${number} from ${minimum} to ${maximum}`
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value))
  return texts.length === 1 ? `must be ${texts[0]}` : `must be one of ${texts.join(', ')}`
}

function suchAs({ examples = [] }: Schema): string {
  return examples.length === 0 ? '' : `, such as ${JSON.stringify(examples[0])}`
}

function count(limit: unknown, one: string, many: string): string {
  return `${String(limit)} ${limit === 1 ? one : many}`
}

/** Returns the path of the member, with dots: `recipient_allowlist.0`. The body itself has an empty path. */
function pathOf({ instancePath, params }: SchemaError): string {
  const path = instancePath.split('/').slice(1).map(unescapePointer)
  const named = params['missingProperty'] ?? params['additionalProperty']
  if (typeof named === 'string') path.push(named)
  return path.map((name) => shortenText(name, MEMBER_CHARS_MAX)).join('.')
}

/** Undoes the escaping of a JSON pointer's step (RFC 6901, section 4). */
function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
