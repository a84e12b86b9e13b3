import { banInCode, isShipped } from '../rule.ts'

/**
 * Matches `actor?: Actor` in a type, and a default such as `actor = OPERATOR` of a parameter. Does not match the
 * declaration of a variable.
 */
const OPTIONAL_ACTOR = /\bactor\s*\?\s*:|(?<!\b(?:const|let)\s)\bactor\s*=(?![=>])/

export const ACTOR_REQUIRED = banInCode({
  name: 'no operation assumes who acts',
  pattern: OPTIONAL_ACTOR,
  instead: 'make the actor required; with a default, a caller that forgets it writes the wrong name into the audit log',
  holdsIn: isShipped,
})
