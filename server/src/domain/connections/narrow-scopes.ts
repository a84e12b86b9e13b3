import type { Scope } from '../../values/scope.ts'

/** The scopes that are wanted of those that are offered, all for null; null when they are not a part of them, or none. */
export function narrowScopes(offered: readonly Scope[], wanted: readonly Scope[] | null): readonly Scope[] | null {
  if (wanted === null) return offered
  if (wanted.length === 0 || !wanted.every((scope) => offered.includes(scope))) return null
  return offered.filter((scope) => wanted.includes(scope))
}
