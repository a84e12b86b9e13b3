/** Formats a count: `10000` as `10,000`. */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
