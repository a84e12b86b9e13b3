const LONE_SURROGATE = /\p{Surrogate}/u

/** Counts Unicode code points, as the specification's bounds do. */
export function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Whether PostgreSQL can keep a text as it is: no NUL, no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && !LONE_SURROGATE.test(text)
}
