/** An error whose message we wrote for the operator. It says what to do, and repeats nothing that is secret. */
export class OperatorError extends Error {}

/** Returns the message for the operator, or the name of any other error. */
export function describeForOperator(error: unknown): string {
  if (error instanceof OperatorError) return error.message
  return error instanceof Error ? error.name : 'unknown error'
}
