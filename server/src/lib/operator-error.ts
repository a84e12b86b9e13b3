/** An error whose message we wrote for the operator. It says what to do, and repeats nothing that is secret. */
export class OperatorError extends Error {}

/** Returns the message for the operator, or any other error as a text, for programs that work with nothing secret. */
export function textOf(error: unknown): string {
  return error instanceof OperatorError ? error.message : String(error)
}

/** Returns the message for the operator, or the name of any other error. */
export function describeForOperator(error: unknown): string {
  if (error instanceof OperatorError) return error.message
  return error instanceof Error ? error.name : 'unknown error'
}
