const LONE_SURROGATE = /\p{Surrogate}/u

/** Counts Unicode code points, which is how the specification counts characters. */
export function countCodePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Returns whether PostgreSQL can store a text unchanged: it has no NUL and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && !LONE_SURROGATE.test(text)
}
