/**
 * How the adapters of two vendors convert the schemas of MCP tools, written again from what they document and do. The
 * packages themselves are too large to install for this.
 */

export type JsonSchema = Readonly<Record<string, unknown>>

/** The error of an adapter that cannot convert a schema. */
export class NotConvertible extends Error {}

/**
 * Of the keywords that the API supports in strict mode, those that our schemas use
 * (https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas").
 */
const OPENAI_KEYWORDS = [
  'type',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'enum',
]
const OPENAI_NUMBER_KEYWORDS = ['minimum', 'maximum']
const OPENAI_DEPTH_MAX = 10

/**
 * Converts a schema to OpenAI's strict mode, as `ensure_strict_json_schema` of openai-agents (Python) and
 * `toOpenAIStrictToolSchema` of @openai/agents-core (TypeScript) do: every member is required, one that was optional
 * can be null, and an object has no other members. Throws if the schema allows other members, or if the API does not
 * support a keyword in strict mode.
 */
export function toOpenAiStrict(schema: JsonSchema, path = '', depth = 0): JsonSchema {
  if (depth > OPENAI_DEPTH_MAX) throw new NotConvertible(`${path} is nested too deeply`)
  const { type } = schema
  const known = type === 'integer' || type === 'number' ? OPENAI_NUMBER_KEYWORDS : []
  const unknown = Object.keys(schema).find((keyword) => ![...OPENAI_KEYWORDS, ...known].includes(keyword))
  if (unknown !== undefined) throw new NotConvertible(`${path} has the unsupported keyword ${unknown}`)
  const inside = (one: unknown, name: string): JsonSchema => toOpenAiStrict(toSchema(one), `${path}/${name}`, depth + 1)
  const converted: Record<string, unknown> = { ...schema }
  if ('anyOf' in schema) converted['anyOf'] = toList(schema['anyOf']).map((one, index) => inside(one, String(index)))
  if ('items' in schema) converted['items'] = inside(schema['items'], 'items')
  if (type === 'object') {
    const { properties, required = [], additionalProperties = false } = schema
    if (additionalProperties !== false) throw new NotConvertible(`${path} allows other members`)
    const members = Object.entries(toSchema(properties)).map(([name, property]): [string, JsonSchema] => {
      const strict = inside(property, name)
      return [name, toList(required).includes(name) ? strict : { anyOf: [strict, { type: 'null' }] }]
    })
    if (members.length === 0) throw new NotConvertible(`${path} has no members`)
    converted['properties'] = Object.fromEntries(members)
    converted['required'] = members.map(([name]) => name)
    converted['additionalProperties'] = false
  }
  return converted
}

/** Of what the `Schema` of the Gemini API has (https://ai.google.dev/api/caching#Schema), what our schemas use. */
const GEMINI_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum'],
  integer: ['minimum', 'maximum'],
  number: ['minimum', 'maximum'],
  boolean: [],
  array: ['items'],
  object: ['properties', 'required', 'additionalProperties'],
  null: [],
}

/**
 * Converts a schema to one of the Gemini API, as `mcp_to_gemini_tool` of google-genai (Python) does. It reads
 * `additionalProperties` as a schema and leaves it out, and fails if it is `true` or `false`. Throws also if the
 * conversion would lose anything else, or if the API would reject the result.
 */
export function toGemini(schema: JsonSchema, path = ''): JsonSchema {
  const { type, anyOf, description, ...rest } = schema
  const inside = (one: unknown, name: string): JsonSchema => toGemini(toSchema(one), `${path}/${name}`)
  const described = description === undefined ? {} : { description }
  if (anyOf !== undefined) {
    if (type !== undefined || Object.keys(rest).length > 0) throw new NotConvertible(`${path} has more than an anyOf`)
    const alternatives = toList(anyOf).map(toSchema)
    const others = alternatives.filter((one) => one['type'] !== 'null')
    const nullable = others.length < alternatives.length ? { nullable: true } : {}
    const [only] = others
    if (only === undefined) throw new NotConvertible(`${path} can only be null`)
    if (others.length === 1) return { ...inside(only, '0'), ...described, ...nullable }
    return { anyOf: others.map((one, index) => inside(one, String(index))), ...described, ...nullable }
  }
  // A list of types is not a type: "Proto field is not repeating, cannot start list".
  const keywords = typeof type === 'string' ? GEMINI_KEYWORDS[type] : undefined
  if (keywords === undefined) throw new NotConvertible(`${path} has the type ${JSON.stringify(type)}`)
  const unknown = Object.keys(rest).find((keyword) => !keywords.includes(keyword))
  if (unknown !== undefined) throw new NotConvertible(`${path} has the unsupported keyword ${unknown}`)
  const { additionalProperties, ...kept }: Record<string, unknown> = { ...rest }
  if (additionalProperties !== undefined) inside(additionalProperties, '*')
  if (kept['items'] !== undefined) kept['items'] = inside(kept['items'], 'items')
  if (kept['properties'] !== undefined) {
    const members = Object.entries(toSchema(kept['properties']))
    kept['properties'] = Object.fromEntries(members.map(([name, property]) => [name, inside(property, name)]))
  }
  if (toList(kept['enum'] ?? []).some((value) => typeof value !== 'string')) {
    throw new NotConvertible(`${path} has an enum of other values than strings`)
  }
  return { type: String(type).toUpperCase(), ...described, ...kept }
}

function toSchema(value: unknown): JsonSchema {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonSchema
  throw new NotConvertible(`${JSON.stringify(value)} is not an object`)
}

function toList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new NotConvertible(`${JSON.stringify(value)} is not a list`)
}
