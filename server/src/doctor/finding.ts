import { DatabaseUnavailable } from '../db/errors.ts'

/** What a check saw. `fail` keeps the service from working; `warn` asks for somebody's attention. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly name: string
  /** What was seen: never a secret, and of an address its host alone. */
  readonly seen: string
  /** What to do about it. */
  readonly todo?: string
}

/** Longer than the requests of any check take together by their own time limits. */
const CHECK_MS_MAX = 45_000
const LEVEL_CHARS = 4
const NOT_CHECKED = 'not checked'
/** Undefined table, undefined column. */
const SCHEMA_FAULTS: readonly string[] = ['42P01', '42703']

/** One line for a finding, and one more for what to do. */
export function formatFinding({ level, name, seen, todo }: Finding): string {
  const line = `${level.padEnd(LEVEL_CHARS)}  ${name}: ${seen}\n`
  return todo === undefined || level === 'ok' ? line : `${line}      → ${todo}\n`
}

/** Runs a check for a bounded time. A check that throws or does not end is a failed one. */
export async function runCheck(name: string, check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  const limit = AbortSignal.timeout(CHECK_MS_MAX)
  const late = new Promise<never>((_resolve, reject) => {
    limit.addEventListener('abort', () => reject(new TooLate()), { once: true })
  })
  try {
    return await Promise.race([check(), late])
  } catch (error) {
    const code = nameOf(error)
    // What is wrong there is told by a line of its own.
    if (error instanceof DatabaseUnavailable)
      return [{ level: 'warn', name, seen: NOT_CHECKED, todo: 'Mend the database.' }]
    if (SCHEMA_FAULTS.includes(code)) {
      return [
        { level: 'warn', name, seen: NOT_CHECKED, todo: 'Start the service once: it brings the schema up to date.' },
      ]
    }
    return [{ level: 'fail', name, seen: `could not be checked (${code})`, todo: 'Run the doctor again.' }]
  }
}

class TooLate extends Error {
  override readonly name = `no result in ${CHECK_MS_MAX} ms`
}

/** A system's or PostgreSQL's code where there is one, else the error's name: messages may hold what was sent. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const cause = error.cause instanceof Error ? error.cause : error
  for (const candidate of [error, cause]) {
    if ('code' in candidate && typeof candidate.code === 'string') return candidate.code
  }
  return cause.name
}
