/** A share as `98.2%`. Rounded down, so that only a full share is 100%. Null if `whole` is 0. */
export function formatRate(part: number, whole: number): string | null {
  if (whole === 0) return null
  const tenths = Math.floor((part * 1_000) / whole)
  return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)}%`
}
