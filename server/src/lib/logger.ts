import { pino, type Logger } from 'pino'

export type { Logger } from 'pino'

/** The names of object members whose values are never logged. */
const SECRET_PATHS = ['authorization', 'secret', 'token', 'password', 'privateKey', 'signature', 'appSecret', 'cookie']

const CAUSES_MAX = 4

export function createLogger(level: string, name = 'bursar'): Logger {
  return pino({
    name,
    level,
    serializers: { err: (error: unknown) => describeError(error) },
    redact: {
      paths: SECRET_PATHS.flatMap((path) => [path, `*.${path}`, `*.*.${path}`, `headers["${path}"]`]),
      censor: '[redacted]',
    },
  })
}

/**
 * Describes an error and its causes. Other members of the error are left out, because the `detail` of a database error
 * repeats whole rows.
 */
function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const cause = error.cause === undefined || depth >= CAUSES_MAX ? undefined : describeError(error.cause, depth + 1)
  return { type: error.name, message: error.message, code, stack: error.stack, cause }
}
