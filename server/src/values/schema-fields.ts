import { Type, type TSchema } from 'typebox'
import { MODES } from './mode.ts'

/** Schemas of fields that many endpoints use. Their descriptions are published in `openapi.json`. */

export function isoTime(description?: string) {
  return Type.String({ format: 'date-time', ...describedAs(description) })
}

/** An amount as a string, because a JSON number could lose digits. */
export function usdc(description?: string) {
  return Type.String({ ...describedAs(description), examples: ['12.5'] })
}

/**
 * The given schema, or null. The description is repeated on the union, because generators of client libraries do not
 * show a description inside a union.
 */
export function orNull<Schema extends TSchema & { readonly description?: string }>(schema: Schema) {
  return Type.Union([schema, Type.Null()], describedAs(schema.description))
}

/** An array that is `readonly` for TypeScript. The JSON is the same. */
export function list<Schema extends TSchema>(items: Schema, options: { description?: string } = {}) {
  return Type.Immutable(Type.Array(items, options))
}

/**
 * One of several strings. In the JSON schema it is an `anyOf` of constants, which generators of client libraries
 * support best.
 */
export function oneOf<const Names extends readonly string[]>(names: Names, options: { description?: string } = {}) {
  const schema = Type.Union(
    names.map((name) => Type.Literal(name)),
    options,
  )
  return Type.Unsafe<Names[number]>(schema)
}

/** The schema of a resource's mode. */
export const ModeSchema = oneOf(MODES, { description: 'Derived from the API key, or chosen at consent.' })

function describedAs(description: string | undefined) {
  return description === undefined ? {} : { description }
}
