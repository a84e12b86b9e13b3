import { ISSUES_MAX, type InvalidField } from './problem-details.ts'
import { Problem } from './problem.ts'

/**
 * Describes what is wrong with a member or parameter of a request. `predicate` completes the sentence that begins with
 * the member's name, such as `is required`.
 */
export function issueOf(path: string, predicate: string): InvalidField {
  return { path, message: `${path === '' ? 'The body' : `\`${path}\``} ${predicate}.` }
}

/**
 * Creates the 400 error of a request with these issues. Its message is the first issue, and `details` lists the first
 * `ISSUES_MAX` of them.
 */
export function invalidRequest(issues: readonly InvalidField[], code?: 'amount_invalid' | 'address_invalid'): Problem {
  const message = issues[0]?.message ?? 'The request is not valid.'
  return new Problem('validation_failed', message, {
    details: issues.slice(0, ISSUES_MAX),
    ...(code === undefined ? {} : { code }),
  })
}

/** Creates the 400 error of a request with one member that is not valid. The parameters are those of `issueOf`. */
export function invalidMember(path: string, predicate: string, code?: 'amount_invalid' | 'address_invalid'): Problem {
  return invalidRequest([issueOf(path, predicate)], code)
}
