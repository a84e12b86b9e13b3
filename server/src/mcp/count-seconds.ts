/** Writes a number of seconds: `1 second`, `12 seconds`. */
export function countSeconds(seconds: number): string {
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
}
