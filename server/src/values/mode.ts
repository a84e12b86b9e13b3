/** The two modes. Each piece of data belongs to one mode, and the modes never mix (specification, part 1). */
export const MODES = ['test', 'live'] as const

export type Mode = (typeof MODES)[number]
