import type { Tool } from './tool.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * The keywords that are left out of what is published, because adapters of models do not know them. The descriptions
 * say how long a text may be.
 */
const UNPUBLISHED = ['examples', 'format', 'title', '$id', 'minLength', 'maxLength']

/**
 * Describes a tool as `tools/list` does. Hosts give the descriptions of all tools to a model at each turn, so they are
 * short. An output schema has names, types and required members only: a result explains itself in its `summary`.
 *
 * The schemas have no `$ref`, because many hosts do not resolve it, and no list of types, which the Gemini API rejects.
 */
export function describeTool({ name, title, description, input, output, annotations }: Tool) {
  // That an input has no other members is not published, because the MCP adapter of Google's Python package fails if
  // `additionalProperties` is false. Unknown arguments are rejected when the tool is called.
  const { additionalProperties: _, ...inputSchema } = publish(toJson(input), UNPUBLISHED)
  const outputSchema = publish(toJson(output), [...UNPUBLISHED, 'description'])
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: 'object' as const },
    outputSchema: { ...outputSchema, type: 'object' as const },
    annotations: { title, ...annotations },
  }
}

function toJson(schema: Tool['input']): Schema {
  return JSON.parse(JSON.stringify(schema)) as Schema
}

function publish(schema: Schema, unpublished: readonly string[]): Schema {
  const entries = Object.entries(withEnum(schema)).filter(([keyword]) => !unpublished.includes(keyword))
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, publishPart(keyword, value, unpublished)]))
}

/** Publishes the schemas inside of a keyword's value. */
function publishPart(keyword: string, value: unknown, unpublished: readonly string[]): unknown {
  const inside = (schema: unknown): Schema => publish(schema as Schema, unpublished)
  switch (keyword) {
    case 'properties':
      return Object.fromEntries(Object.entries(value as Schema).map(([name, property]) => [name, inside(property)]))
    case 'anyOf':
      return (value as readonly Schema[]).map(inside)
    case 'items':
      return inside(value)
    default:
      return value
  }
}

/** Writes alternatives that are constants as an `enum`. It is shorter, and the Gemini API does not know `const`. */
function withEnum(schema: Schema): Schema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf)) return schema
  const alternatives = anyOf as readonly Schema[]
  if (alternatives.some((one) => typeof one['const'] !== 'string')) return schema
  return { ...rest, type: 'string', enum: alternatives.map((one) => one['const']) }
}
