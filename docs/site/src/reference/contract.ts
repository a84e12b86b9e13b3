/** The parts of `openapi.json` that the reference shows. */
export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly headers: Readonly<Record<string, Described>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

export interface Response extends Described {
  readonly content?: Content
  readonly headers?: Readonly<Record<string, unknown>>
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

export interface Reference {
  readonly $ref: string
}

interface Described {
  readonly description?: string
}

export interface Parameter extends Described {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

export interface Schema extends Described {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly const?: string | number | boolean
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly examples?: readonly unknown[]
}

/** Returns the last part of a reference, such as `Payment` for `#/components/schemas/Payment`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

/** Returns the code of the error that a schema describes, such as `amount_too_large`, or its type if it has no code. */
export function codeOf(reference: string): string {
  return nameOf(reference)
    .replace(/Error$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase()
}
