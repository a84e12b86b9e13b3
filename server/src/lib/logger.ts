import { pino, type Logger } from 'pino'

export type { Logger } from 'pino'

/** Members that are never written, wherever an object carries them. */
const SECRET_PATHS = ['authorization', 'secret', 'token', 'password', 'privateKey', 'signature', 'appSecret', 'cookie']

export function createLogger(level: string, name = 'bursar'): Logger {
  return pino({
    name,
    level,
    redact: {
      paths: SECRET_PATHS.flatMap((path) => [path, `*.${path}`, `*.*.${path}`, `headers["${path}"]`]),
      censor: '[redacted]',
    },
  })
}
