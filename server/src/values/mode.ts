/** The two modes. All data belongs to one of them, and they never mix (specification, part 1). */
export const MODES = ['test', 'live'] as const

export type Mode = (typeof MODES)[number]
