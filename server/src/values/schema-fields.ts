import { Type, type TSchema } from 'typebox'
import { MODES } from './mode.ts'

/** The parts that the schemas of every door are made of. A description ends in `openapi.json`. */

export function isoTime(description?: string) {
  return Type.String({ format: 'date-time', ...describedAs(description) })
}

/** An amount as text: a JSON number would lose digits. */
export function usdc(description?: string) {
  return Type.String({ ...describedAs(description), examples: ['12.5'] })
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** An array that nobody who receives it changes: `readonly` for TypeScript, no difference on the wire. */
export function list<Schema extends TSchema>(items: Schema, options: { description?: string } = {}) {
  return Type.Immutable(Type.Array(items, options))
}

/** One of several texts. Written as `anyOf` of constants, which generators of clients read best. */
export function oneOf<const Names extends readonly string[]>(names: Names, options: { description?: string } = {}) {
  const schema = Type.Union(
    names.map((name) => Type.Literal(name)),
    options,
  )
  return Type.Unsafe<Names[number]>(schema)
}

/** The mode of what is shown. */
export const ModeSchema = oneOf(MODES, { description: 'Derived from the API key, or chosen at consent.' })

function describedAs(description: string | undefined) {
  return description === undefined ? {} : { description }
}
