import { useRef } from 'react'
import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { formatStep, listSteps, toPercent } from '../../format/chart-scale.ts'
import { listTicks } from '../../format/list-ticks.ts'
import { seriesColor } from './series-color.ts'
import { chooseSpendScale, stackBar } from './spend-bars.ts'

interface SpendChartProps {
  readonly spending: Spending
  /** The selected bar. */
  readonly picked: number | null
  readonly onPick: (bar: number | null) => void
  /** Describes a bar for screen readers. */
  readonly describe: (bar: number) => string
}

/** The width of a bar, as a part of the width available to it. */
const BAR_PART = 0.72

/**
 * A stacked bar chart of spending over time, by agent. All coordinates are percentages, so that the chart fits any
 * width without being measured. The arrow keys move between bars, as on a slider.
 */
export function SpendChart({ spending, picked, onPick, describe }: SpendChartProps) {
  const plot = useRef<HTMLDivElement>(null)
  const { bars_at, end, agents } = spending
  const count = bars_at.length
  const scale = chooseSpendScale(agents, count)

  const point = (event: React.PointerEvent) => {
    const box = plot.current?.getBoundingClientRect()
    if (box !== undefined && box.width > 0)
      onPick(clampBar(Math.floor(((event.clientX - box.left) / box.width) * count)))
  }
  const clampBar = (bar: number) => Math.max(0, Math.min(count - 1, bar))
  const press = (event: React.KeyboardEvent) => {
    const current = picked ?? count - 1
    const next = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: count - 1 }[event.key]
    if (event.key === 'Escape') onPick(null)
    if (next === undefined) return
    event.preventDefault()
    onPick(clampBar(next))
  }

  return (
    <div className="grid grid-cols-[minmax(0,1fr)_2.75rem] gap-x-2">
      <div
        ref={plot}
        role="slider"
        tabIndex={0}
        aria-label="Spending over time. Use the arrow keys to move between bars."
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={(picked ?? count - 1) + 1}
        aria-valuetext={describe(picked ?? count - 1)}
        className="touch-pan-y rounded-md"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => onPick(null)}
        onFocus={(event) => {
          if (event.currentTarget.matches(':focus-visible')) onPick(picked ?? count - 1)
        }}
        onBlur={() => onPick(null)}
        onKeyDown={press}
      >
        <svg className="block h-56 w-full overflow-visible" aria-hidden="true">
          {listSteps(scale).map((micro) => (
            <line
              key={String(micro)}
              x1="0"
              x2="100%"
              y1={`${100 - toPercent(micro, scale)}%`}
              y2={`${100 - toPercent(micro, scale)}%`}
              className={micro === 0n ? 'stroke-edge' : 'stroke-line'}
            />
          ))}
          {picked !== null && (
            <rect x={share(picked, count)} width={share(1, count)} height="100%" className="fill-edge/15" />
          )}
          {bars_at.map((at, bar) => (
            <g key={at} className={picked === null || picked === bar ? '' : 'opacity-45'}>
              {stackBar(agents, bar, scale).map(({ series, top, height }) => (
                <rect
                  key={series}
                  x={share(bar + (1 - BAR_PART) / 2, count)}
                  width={share(BAR_PART, count)}
                  y={`${top}%`}
                  height={`${height}%`}
                  // A line in the colour of the ground separates segments whose colours look alike to some readers.
                  strokeWidth="1"
                  className={`stroke-surface ${seriesColor(agents[series]?.color ?? null).fill}`}
                />
              ))}
            </g>
          ))}
        </svg>
      </div>
      <svg className="block h-56 w-full overflow-visible" aria-hidden="true">
        {listSteps(scale).map((micro) => (
          <text
            key={String(micro)}
            x="100%"
            textAnchor="end"
            y={`${100 - toPercent(micro, scale)}%`}
            dy="0.32em"
            className="fill-muted text-xs tabular-nums"
          >
            {formatStep(micro)}
          </text>
        ))}
      </svg>
      <svg className="block h-6 w-full overflow-visible" aria-hidden="true">
        {listTicks(bars_at, end).map(({ part, text }) => (
          <text
            key={part}
            x={share(part, 1)}
            y="1.1rem"
            textAnchor={part < 0.05 ? 'start' : part > 0.95 ? 'end' : 'middle'}
            className="fill-muted text-xs tabular-nums"
          >
            {text}
          </text>
        ))}
      </svg>
    </div>
  )
}

function share(part: number, whole: number): string {
  return `${(part / whole) * 100}%`
}
