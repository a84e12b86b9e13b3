import type { Plan } from '../plans/plan.ts'

/** A workspace: everything else belongs to one. */
export interface Account {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: Plan
  readonly createdAt: Date
}

const SLUG_CHARS_MAX = 40

/** Letters that Unicode takes for letters of their own, and not for a letter with a mark. */
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

/** Makes a slug of a name: lower-case letters, digits and single hyphens. A name without any gives `workspace`. */
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
