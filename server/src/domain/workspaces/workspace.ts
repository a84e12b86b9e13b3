import type { Plan } from '../plans/plan.ts'

/** A workspace. Every agent, wallet, grant, key and event belongs to one. */
export interface Workspace {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: Plan
  /** The person who created the workspace. Null if the operator did. */
  readonly createdBy: string | null
  readonly createdAt: Date
  /** Since when the workspace is being moved to another cell. Null if it is not. */
  readonly movingSince: Date | null
}

const SLUG_CHARS_MAX = 40

/** Letters that Unicode does not decompose into a base letter and a mark, so this table replaces them. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

/**
 * Returns a slug made from the name: at most 40 lower-case letters, digits and single hyphens. Returns `workspace` if
 * no letter or digit is left.
 */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS_MAX)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? 'workspace' : slug
}
