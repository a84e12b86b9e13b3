import { Type, type TSchema } from 'typebox'
import { MODES } from './mode.ts'

/** Field schemas that all endpoints share. Their descriptions are published in `openapi.json`. */

export function isoTime(description?: string) {
  return Type.String({ format: 'date-time', ...describedAs(description) })
}

/** An amount as a string, because a JSON number could lose digits. */
export function usdc(description?: string) {
  return Type.String({ ...describedAs(description), examples: ['12.5'] })
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** An array that is `readonly` for TypeScript. The JSON is the same. */
export function list<Schema extends TSchema>(items: Schema, options: { description?: string } = {}) {
  return Type.Immutable(Type.Array(items, options))
}

/** One of several strings. Written as `anyOf` of constants, which client generators support best. */
export function oneOf<const Names extends readonly string[]>(names: Names, options: { description?: string } = {}) {
  const schema = Type.Union(
    names.map((name) => Type.Literal(name)),
    options,
  )
  return Type.Unsafe<Names[number]>(schema)
}

/** The mode of the resource. */
export const ModeSchema = oneOf(MODES, { description: 'Derived from the API key, or chosen at consent.' })

function describedAs(description: string | undefined) {
  return description === undefined ? {} : { description }
}
