/** Everything is partitioned by mode (specification, part 1). */
export const MODES = ['test', 'live'] as const

export type Mode = (typeof MODES)[number]
