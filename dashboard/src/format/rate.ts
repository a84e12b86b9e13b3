/** A share of a whole as `98.2%`, cut off and not rounded: 100% is only said of all. Null of nothing. */
export function formatRate(part: number, whole: number): string | null {
  if (whole === 0) return null
  const tenths = Math.floor((part * 1_000) / whole)
  return `${tenths % 10 === 0 ? tenths / 10 : (tenths / 10).toFixed(1)}%`
}
