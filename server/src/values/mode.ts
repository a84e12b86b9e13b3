/** Test and live data are separate in everything (specification, part 1). */
export const MODES = ['test', 'live'] as const

export type Mode = (typeof MODES)[number]
