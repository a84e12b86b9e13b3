import { Problem } from '../../values/problem.ts'
import { NAME_CHARS_MAX, parseName } from './user.ts'

/** The name in the form that is kept, or 400 `validation_failed`. */
export function checkName(text: string): string {
  const name = parseName(text)
  if (name === null) throw new Problem('validation_failed', `name must have 1 to ${NAME_CHARS_MAX} characters.`)
  return name
}
