import buildValidators from '@fastify/ajv-compiler'

type Compile = ReturnType<ReturnType<typeof buildValidators>>
type Validate = ReturnType<Compile>

/**
 * Returns Fastify's own compiler of schemas, but each schema is compiled when a request first needs it. The schemas of
 * all routes would take a sixth of the enclave's start, and most sandboxes need only a few of them. The service has a
 * function like this, but the enclave shares no code with the service that it checks.
 */
export function compileOnDemand(): ReturnType<typeof buildValidators> {
  const build = buildValidators()
  return (schemas, options) => {
    const compile = build(schemas, options)
    return (route) => {
      let compiled: Validate | null = null
      const validate = (body: unknown) => {
        compiled ??= compile(route)
        const result = compiled(body)
        // Fastify reads this property right after the call.
        validate.errors = compiled.errors
        return result
      }
      validate.errors = null as Validate['errors']
      return validate as Validate
    }
  }
}
