import buildValidators from '@fastify/ajv-compiler'
import buildSerializers from '@fastify/fast-json-stringify-compiler'
import type { FastifyServerOptions } from 'fastify'

type Compilers = Required<NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>>
type ValidatorBuilder = ReturnType<typeof buildValidators>
type CompileValidator = ReturnType<ValidatorBuilder>
type Validate = ReturnType<CompileValidator>
type SerializerBuilder = ReturnType<typeof buildSerializers>
type Serialize = ReturnType<ReturnType<SerializerBuilder>>

/** Shared by all servers of a process, so that each schema is compiled once. Tests open hundreds of servers. */
const validators = buildValidators()

/**
 * Returns Fastify's own schema compilers, but each schema is compiled when a request first needs it. Compiling the
 * schemas of all routes would take more than a quarter of a process's start. Instead, the first request to a route
 * takes some milliseconds longer.
 */
export function compileOnDemand(): Compilers {
  const serializers = buildSerializers()
  const buildValidator: ValidatorBuilder = (schemas, options) => {
    const compile = validators(schemas, options)
    return (schema) => validateOnDemand(() => compile(schema))
  }
  const buildSerializer: SerializerBuilder = (schemas, options) => {
    const compile = serializers(schemas, options)
    return (route) => serializeOnDemand(() => compile(route))
  }
  return { buildValidator, buildSerializer }
}

/** Fastify reads the errors from the property `errors` of the function that validated, right after the call. */
function validateOnDemand(compile: () => Validate): Validate {
  let compiled: Validate | null = null
  const validate = (data: unknown) => {
    compiled ??= compile()
    const result = compiled(data)
    validate.errors = compiled.errors
    return result
  }
  validate.errors = null as Validate['errors']
  return validate as Validate
}

function serializeOnDemand(compile: () => Serialize): Serialize {
  let compiled: Serialize | null = null
  return (value) => (compiled ??= compile())(value)
}
