import { canonicalJson, type JsonValue } from '../../server/src/lib/canonical-json.ts'

/** A file that was changed in one place, and which. */
interface Changed {
  readonly name: string
  readonly file: Buffer
}

type Path = readonly (string | number)[]

/** Returns the file with each byte changed, one at a time. */
export function flipBytes(file: string): Changed[] {
  const bytes = Buffer.from(file)
  return Array.from(bytes.keys(), (index) => {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(bytes.readUInt8(index) ^ 0x01, index)
    return { name: `byte ${index}`, file: changed }
  })
}

/** Returns the file without each member of its objects and each element of its lists, one at a time. */
export function removeMembers(file: string): Changed[] {
  const value = JSON.parse(file) as JsonValue
  return listPaths(value).map((path) => ({ name: `without ${path.join('.')}`, file: format(replace(value, path)) }))
}

/** Returns the file with each value replaced by the one in the same place of another file, if it has another there. */
export function exchangeMembers(file: string, other: string): Changed[] {
  const [value, donor] = [file, other].map((text) => JSON.parse(text) as JsonValue)
  return listPaths(value ?? null).flatMap((path) => {
    const [own, given] = [read(value, path), read(donor, path)]
    if (given === undefined || canonicalJson(own ?? null) === canonicalJson(given)) return []
    return [{ name: `${path.join('.')} of another file`, file: format(replace(value ?? null, path, given)) }]
  })
}

function format(value: JsonValue): Buffer {
  return Buffer.from(canonicalJson(value))
}

/** Returns the paths of all members and elements. */
function listPaths(value: JsonValue): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const entries: [string | number, JsonValue][] = isList(value) ? [...value.entries()] : Object.entries(value)
  return entries.flatMap(([name, member]) => [[name], ...listPaths(member).map((path) => [name, ...path])])
}

function read(value: JsonValue | undefined, [name, ...rest]: Path): JsonValue | undefined {
  if (name === undefined) return value
  if (typeof value !== 'object' || value === null) return undefined
  return read((value as Readonly<Record<string, JsonValue>>)[name], rest)
}

/** Returns the value with another one at a path, or without it. */
function replace(value: JsonValue, [name, ...rest]: Path, other?: JsonValue): JsonValue {
  if (name === undefined) return other ?? null
  const isRemoved = rest.length === 0 && other === undefined
  if (isList(value)) {
    if (isRemoved) return value.filter((_, index) => index !== name)
    return value.map((one, index) => (index === name ? replace(one, rest, other) : one))
  }
  const members = value as Readonly<Record<string, JsonValue>>
  const { [name]: member = null, ...others } = members
  return isRemoved ? others : { ...others, [name]: replace(member, rest, other) }
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
