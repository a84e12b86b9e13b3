import { codeOf, nameOf, type Schema } from './contract.ts'

/** Describes a schema's type in a few words. References lead to the page with the objects. */
export function describeType(schema: Schema): string {
  if (schema.$ref?.endsWith('Error') === true) return `[\`${codeOf(schema.$ref)}\`](errors.md#${codeOf(schema.$ref)})`
  if (schema.$ref !== undefined) return `[${nameOf(schema.$ref)}](objects.md#${nameOf(schema.$ref).toLowerCase()})`
  const variants = schema.anyOf ?? schema.oneOf
  if (variants !== undefined) return [...new Set(flatten(variants).map(describeType))].join(' or ')
  if (schema.const !== undefined) return `\`${String(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(' or ')
  if (schema.type === 'array') return `list of ${describeType(schema.items ?? {})}`
  if (schema.format === 'date-time') return 'time'
  return schema.type ?? 'any value'
}

/** Describes which values are allowed, such as "1 to 100". Empty if the type says everything. */
export function describeLimits(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, maxItems } = schema
  return [
    minimum === undefined && maximum === undefined ? null : describeRange(minimum, maximum, ''),
    // We do not mention a minimum of one character: it only says that the text may not be empty.
    (minLength === undefined || minLength === 1) && maxLength === undefined
      ? null
      : describeRange(minLength, maxLength, ' characters'),
    maxItems === undefined ? null : `at most ${maxItems} entries`,
    schema.default === undefined ? null : `default \`${JSON.stringify(schema.default)}\``,
  ]
    .filter((limit) => limit !== null)
    .join(', ')
}

/** Returns one row for each member of an object and of the objects in it. */
export function listMembers(schema: Schema, prefix = ''): readonly string[] {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const optional = required.includes(name) ? '' : ' (optional)'
    const row = tableRow([`\`${path}\`${optional}`, describeType(member), describeMember(member)])
    return [row, ...listInner(member, path)]
  })
}

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

function listInner(member: Schema, path: string): readonly string[] {
  const [object, isList] = member.type === 'array' ? [member.items ?? {}, true] : [member, false]
  const inner = flatten(object.anyOf ?? [object]).filter(({ properties }) => properties !== undefined)
  return inner.flatMap((schema) => listMembers(schema, `${path}${isList ? '[]' : ''}.`))
}

function describeMember(member: Schema): string {
  const limits = describeLimits(member)
  return [member.description ?? '', limits === '' ? '' : `Allowed: ${limits}.`].filter((text) => text !== '').join(' ')
}

function describeRange(min: number | undefined, max: number | undefined, unit: string): string {
  if (max === undefined) return `at least ${min}${unit}`
  return min === undefined ? `at most ${max}${unit}` : `${min} to ${max}${unit}`
}

function flatten(variants: readonly Schema[]): readonly Schema[] {
  return variants.flatMap((variant) => (variant.anyOf === undefined ? [variant] : flatten(variant.anyOf)))
}
