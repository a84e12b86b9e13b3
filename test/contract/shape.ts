/**
 * Checks the value at the place `at` of a body. Returns each fault as a sentence that names its place, or an empty list
 * if the value has the shape.
 */
export type Shape = (value: unknown, at: string) => string[]

const PLACE_OF_BODY = ''

/** Checks a whole body, and returns its faults. */
export function findFaults(shape: Shape, body: unknown): string[] {
  return shape(body, PLACE_OF_BODY)
}

export function text(pattern = /^/): Shape {
  return (value, at) =>
    typeof value === 'string' && pattern.test(value)
      ? []
      : [`${at} is no text that fits ${String(pattern)}: ${tell(value)}`]
}

export function oneOf(...allowed: readonly unknown[]): Shape {
  return (value, at) => (allowed.includes(value) ? [] : [`${at} is none of ${tell(allowed)}: ${tell(value)}`])
}

export const integer: Shape = (value, at) =>
  Number.isSafeInteger(value) ? [] : [`${at} is no integer: ${tell(value)}`]

export const boolean: Shape = (value, at) => (typeof value === 'boolean' ? [] : [`${at} is no boolean: ${tell(value)}`])

export function nullable(shape: Shape): Shape {
  return (value, at) => (value === null ? [] : shape(value, at))
}

export function list(shape: Shape, lengthMax = Infinity): Shape {
  return (value, at) => {
    if (!Array.isArray(value)) return [`${at} is no list: ${tell(value)}`]
    if (value.length > lengthMax) return [`${at} has more than ${lengthMax} entries`]
    return value.flatMap((entry, index) => shape(entry, `${at}[${index}]`))
  }
}

/** An object that has all required fields, and no others except the optional ones. */
export function members(
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape {
  return (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [`${at} is no object: ${tell(value)}`]
    const shapes = { ...required, ...optional }
    const missing = Object.keys(required).filter((name) => !Object.hasOwn(value, name))
    const found = Object.entries(value).flatMap(([name, member]) => {
      const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined
      return shape === undefined ? [`${at}.${name} is not known`] : shape(member, `${at}.${name}`)
    })
    return [...missing.map((name) => `${at}.${name} is missing`), ...found]
  }
}

/** A value that has at least one of the shapes. */
export function either(...shapes: readonly Shape[]): Shape {
  return (value, at) => {
    const faults = shapes.map((shape) => shape(value, at))
    return faults.some(({ length }) => length === 0)
      ? []
      : [`${at} has none of the shapes: ${faults.map((list) => list.join(', ')).join(' | ')}`]
  }
}

/** Any value. Used where the provider specifies no shape, such as for the items of an ABI. */
export const anything: Shape = () => []

function tell(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined'
}
