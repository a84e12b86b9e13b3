import { DatabaseUnavailable } from '../db/errors.ts'

/** The result of a check. `fail`: the service does not work in this state. `warn`: the operator should look at it. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly name: string
  /** What the check observed. Never contains a secret, and contains only the host of a URL. */
  readonly observed: string
  /** What the operator should do. */
  readonly advice?: string
}

/** The time limit of a check. It is longer than the time limits of all requests of a check together. */
const CHECK_MS_MAX = 60_000
const LEVEL_CHARS = 4
const NOT_CHECKED = 'not checked'
/** PostgreSQL's error codes for an undefined table and an undefined column. */
const SCHEMA_FAULTS: readonly string[] = ['42P01', '42703']

/** Formats a finding as one line, and one more line with the advice. */
export function formatFinding({ level, name, observed, advice }: Finding): string {
  const line = `${level.padEnd(LEVEL_CHARS)}  ${name}: ${observed}\n`
  return advice === undefined || level === 'ok' ? line : `${line}      → ${advice}\n`
}

/** Runs a check with a time limit. If a check throws or does not end, it has failed. */
export async function runCheck(name: string, check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  const limit = AbortSignal.timeout(CHECK_MS_MAX)
  const late = new Promise<never>((_resolve, reject) => {
    limit.addEventListener('abort', () => reject(new CheckTimedOut()), { once: true })
  })
  try {
    return await Promise.race([check(), late])
  } catch (error) {
    const code = nameOf(error)
    // The database check reports this failure itself.
    if (error instanceof DatabaseUnavailable)
      return [{ level: 'warn', name, observed: NOT_CHECKED, advice: 'Fix the database first.' }]
    if (SCHEMA_FAULTS.includes(code)) {
      return [
        {
          level: 'warn',
          name,
          observed: NOT_CHECKED,
          advice: 'Start the service once. It applies the missing migrations.',
        },
      ]
    }
    return [{ level: 'fail', name, observed: `could not be checked (${code})`, advice: 'Run the doctor again.' }]
  }
}

class CheckTimedOut extends Error {
  override readonly name = `no result in ${CHECK_MS_MAX} ms`
}

/**
 * Returns the error's code or, if it has none, its name. The message is left out because it may repeat what was sent.
 */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const cause = error.cause instanceof Error ? error.cause : error
  for (const candidate of [error, cause]) {
    if ('code' in candidate && typeof candidate.code === 'string') return candidate.code
  }
  return cause.name
}
