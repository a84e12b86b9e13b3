const SERIES = [
  { fill: 'fill-series-1', ground: 'bg-series-1' },
  { fill: 'fill-series-2', ground: 'bg-series-2' },
  { fill: 'fill-series-3', ground: 'bg-series-3' },
  { fill: 'fill-series-4', ground: 'bg-series-4' },
  { fill: 'fill-series-5', ground: 'bg-series-5' },
  { fill: 'fill-series-6', ground: 'bg-series-6' },
] as const
const OTHERS = { fill: 'fill-series-7', ground: 'bg-series-7' } as const

/** The colour of an agent by its rank. The group of all other agents is grey. */
export function seriesColor(agentId: string | null, rank: number): { readonly fill: string; readonly ground: string } {
  return agentId === null ? OTHERS : (SERIES[rank] ?? OTHERS)
}
