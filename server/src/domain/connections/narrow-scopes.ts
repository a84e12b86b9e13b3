import type { Scope } from '../../values/scope.ts'

/**
 * Returns the wanted scopes, in the order of `offered`. Returns all offered scopes if `wanted` is null. Returns null if
 * `wanted` is empty or contains a scope that is not offered.
 */
export function narrowScopes(offered: readonly Scope[], wanted: readonly Scope[] | null): readonly Scope[] | null {
  if (wanted === null) return offered
  if (wanted.length === 0 || !wanted.every((scope) => offered.includes(scope))) return null
  return offered.filter((scope) => wanted.includes(scope))
}
