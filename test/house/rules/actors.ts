import { banInCode, isShipped } from '../rule.ts'

/** `actor?: Actor` in a type, or `actor = OPERATOR` in an argument's pattern; not the declaration of a variable. */
const OPTIONAL_ACTOR = /\bactor\s*\?\s*:|(?<!\b(?:const|let)\s)\bactor\s*=(?![=>])/

export const ACTOR_REQUIRED = banInCode({
  name: 'no verb assumes who acts',
  pattern: OPTIONAL_ACTOR,
  instead: 'make the actor required; with a default, a caller that forgets it writes the wrong name into the audit log',
  holdsIn: isShipped,
})
