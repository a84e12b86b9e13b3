/** One colour for each number that the server gives to an agent, so that an agent has the same colour in every chart. */
const SERIES = [
  { fill: 'fill-series-1', ground: 'bg-series-1' },
  { fill: 'fill-series-2', ground: 'bg-series-2' },
  { fill: 'fill-series-3', ground: 'bg-series-3' },
  { fill: 'fill-series-4', ground: 'bg-series-4' },
  { fill: 'fill-series-5', ground: 'bg-series-5' },
  { fill: 'fill-series-6', ground: 'bg-series-6' },
  { fill: 'fill-series-7', ground: 'bg-series-7' },
  { fill: 'fill-series-8', ground: 'bg-series-8' },
  { fill: 'fill-series-9', ground: 'bg-series-9' },
  { fill: 'fill-series-10', ground: 'bg-series-10' },
  { fill: 'fill-series-11', ground: 'bg-series-11' },
  { fill: 'fill-series-12', ground: 'bg-series-12' },
] as const
const OTHERS = { fill: 'fill-series-others', ground: 'bg-series-others' } as const

/** The colour of an agent by its number. The group of all other agents, without a number, is grey. */
export function seriesColor(color: number | null): { readonly fill: string; readonly ground: string } {
  return color === null ? OTHERS : (SERIES[color % SERIES.length] ?? OTHERS)
}
